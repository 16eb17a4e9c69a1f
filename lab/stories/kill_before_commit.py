"""amber is killed in the middle of its claim, and the row is as it was.

The row was changed already, but not committed: whoever opens the queue next finds none of it.
"""

from lab.stories import expect

PROMISE = "A courier that is killed before its COMMIT leaves the row as it was."
HTTP = False


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()
    before = stage.queue.job()

    amber.begin("claim")
    amber.go_to("after-claim")  # the row is changed, and not committed
    expect.at(amber, "4.8", "after-claim")
    amber.kill()
    expect.job(stage, "8.4", **before)

    blue.begin("claim")
    blue.finish()
    ticket = {"id": "snack-1", "qty": 3, "owner": "blue", "token": 1}
    expect.returned(blue, "4.6", {**ticket, "attempt": 1, "lease_until": 2000})
    expect.job(stage, "4.5", status="leased", owner="blue", token=1, attempts=1)
