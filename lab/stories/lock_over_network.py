"""amber sends over a slow network, and blue need not wait for it.

A worker that holds the write lock while it sends makes everybody wait for its network.
"""

from lab.stories import expect

PROMISE = "While one courier sends, the other can claim, send and finish."
HTTP = True


def play(stage):
    amber, blue = stage.amber, stage.blue
    stage.put()
    stage.put(job_id="snack-2")

    amber.begin("run_file")
    amber.go_to("answer")  # the network is slow: amber has sent, and hears nothing yet
    expect.at(amber, "7.3", "answer")

    blue.begin("run_file")
    blue.finish()
    expect.returned(blue, "7.3", {"id": "snack-2", "token": 1, "status": "done"})

    amber.finish()
    expect.returned(amber, "7.8", {"id": "snack-1", "token": 1, "status": "done"})
    expect.receiver(stage, "R.1", requests=2, inbox=2, effects=2)
