"""For every suite: no property has a deadline, and a run in which nothing was executed is no success."""

import pytest
from hypothesis import settings

settings.register_profile("any-speed", deadline=None)
settings.load_profile("any-speed")

# Its assertions say what they compared, as those of tests do.
pytest.register_assert_rewrite("sluice_kit")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or session.config.option.collectonly or exitstatus != pytest.ExitCode.OK:
        return
    if not any(reporter.stats.get(outcome) for outcome in ("passed", "xfailed", "xpassed")):
        reporter.write_line("no test was executed: every one was skipped", red=True)
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
