"""amber is killed once it has sent; blue sends again, and it is done once.

Nobody told the queue that the request was taken: that gap cannot be closed, but it is survived.
"""

from lab.stories import expect

PROMISE = "A killed courier's job is sent again, and still has one effect."
HTTP = True


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()

    amber.begin("run_file")
    amber.go_to("answer")  # the receiver has committed, amber has not heard of it
    expect.at(amber, "7.3", "answer")
    expect.receiver(stage, "R.1", requests=1, inbox=1, effects=1)
    amber.kill()
    expect.job(stage, "8.4", status="leased", owner="amber", token=1)

    stage.tick(1000)  # the lease is over
    blue.begin("run_file")
    blue.finish()
    expect.returned(blue, "8.5", {"id": "snack-1", "token": 2, "status": "done"})
    expect.job(stage, "8.5", status="done", token=2)
    expect.receiver(stage, "R.2", requests=2, inbox=1, effects=1)
