"""Never comes back from its import."""

import time

time.sleep(10_000)
