from threading import Event

import pytest

from sluice_kit.machine.beside import beside


def test_work_goes_on_until_the_end() -> None:
    end, began, ended = Event(), Event(), Event()

    def work() -> None:
        began.set()
        end.wait()
        ended.set()

    with beside(work, end):
        assert began.wait(60)
        assert not ended.is_set()
    assert ended.is_set()


def test_an_error_of_the_work_is_not_lost() -> None:
    def work() -> None:
        raise RuntimeError("no rows")

    with pytest.raises(RuntimeError, match="no rows"), beside(work, Event()):
        pass
