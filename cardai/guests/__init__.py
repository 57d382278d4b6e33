"""Guests: packages that cardai finds by entry points only. The folder of each can be deleted."""
