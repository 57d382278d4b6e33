"""A table in the browser: `cardai serve` lets people play any game against agents, alone or with friends.

    server       routes and sockets: what comes in and goes out
    guards       what is refused before anything else looks at it: foreign pages, large and frequent messages, bad names
    room         all tables of a server, in memory and from the store; who may do what
    tables       one table: people, agents and the game between them
    views        what one seat is shown, made from a world of that seat
    review       finished games looked at again
    commitment   a deal that was fixed before anybody sat down
    store        tables, seats and moves in an SQLite file
    export       finished games as record files
    offers       the games and agents that the command line listed
    static       the page: HTML, CSS and modules, without a build step

Needs the extra `cardai[web]`. Browsers get views only; the rules stay here.
"""
