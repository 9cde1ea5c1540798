"""What the page remembers for a while."""

from pixelplan.web.recent import Recent


def test_the_value_that_was_not_used_for_longest_makes_room():
    recent = Recent[str, int](2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    assert recent.get("a") == 1
    assert recent.get_or_make("c", lambda: 3) == 3
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)
    assert recent.get_or_make("c", lambda: 4) == 3
