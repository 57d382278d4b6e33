"""What holds for all tests."""

import signal


def pytest_configure():
    """Let Ctrl-C interrupt, also when pytest was started with SIGINT ignored, as by `nohup pytest &` in a script.

    An ignored signal stays ignored in the processes that tests start; one that is handled does not.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
