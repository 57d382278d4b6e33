"""What holds for all tests."""

import os
import shutil
import signal
import sys
import tempfile
from importlib.metadata import version

import pytest
from nightly import is_nightly

# These begin first, or one processor would still be busy with one of them when the others have nothing left to do.
LONGEST = (
    "test_conformance", "test_docs", "test_survival", "test_environment", "test_train",
    "test_scaffold", "test_cli", "test_web_browser", "test_files", "test_literature_worlds", "test_hearts_worlds",
    "test_grade", "test_isolated", "test_bodies", "test_search", "test_devices", "test_compiling",
)  # fmt: skip
sys.modules |= dict.fromkeys(("games", "evaluators", "experiments"))
"""As where cardai is installed: these folders of the checkout are modules of no other name than `cardai.games`."""
_XLA = "JAX_COMPILATION_CACHE_DIR"
_QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
_QUICKER = " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
_KNOWS_QUICKER = "0.10."
"""The versions of jaxlib that know these flags: a flag that XLA does not know ends the process."""


def pytest_configure(config):
    """Let Ctrl-C interrupt, also when pytest was started with SIGINT ignored, as by `nohup pytest &` in a script.

    An ignored signal stays ignored in the processes that tests start; one that is handled does not.

    Equal networks are compiled once in all processes of a run, those that tests start included. They are not optimised:
    the networks of tests are small, and compiling them would take longer than computing them.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config.option, "loadscopereorder"):  # pytest-xdist would begin with the file that has the most tests
        config.option.loadscopereorder = False
    quicker = _QUICKER if version("jaxlib").startswith(_KNOWS_QUICKER) else ""
    os.environ.setdefault("XLA_FLAGS", _QUICK + quicker)
    if _XLA not in os.environ:
        os.environ[_XLA] = tempfile.mkdtemp(prefix="cardai-xla-")
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(_XLA), ignore_errors=True))


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not want
def pytest_collection_modifyitems(items):
    """Mark the nightly tests, and begin with the files that take longest."""
    for item in items:
        if is_nightly(item.path.name, getattr(item, "originalname", item.name), item.name):
            item.add_marker("nightly")
    place = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))
