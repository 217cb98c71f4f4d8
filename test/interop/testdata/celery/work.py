"""A Celery worker, and a client that gives it work: results, retries, a task for later, a failing one, and remote control."""
import os
import subprocess
import sys

from celery import Celery, chain, group

WAIT = 120  # seconds
BROKER = "CELERY_TEST_BROKER"  # the variable that tells the worker

app = Celery("work", broker=os.environ.get(BROKER) or sys.argv[1], backend="rpc://")
app.conf.update(task_acks_late=True, task_queue_max_priority=10, worker_prefetch_multiplier=2, worker_send_task_events=True)


@app.task(name="add")
def add(x, y):
    return x + y


@app.task(name="flaky", bind=True)
def flaky(self, times):
    if self.request.retries < times:
        raise self.retry(countdown=0.1)
    return self.request.retries


@app.task(name="broken")
def broken():
    raise ValueError("broken")


def give_work():
    print("one", add.delay(2, 3).get(timeout=WAIT))
    print("many", sum(group(add.s(i, i) for i in range(200))().get(timeout=WAIT)))
    print("chain", chain(add.s(1, 2), add.s(3))().get(timeout=WAIT))
    print("retried", flaky.delay(2).get(timeout=WAIT))
    print("later", add.apply_async((1, 1), countdown=0.5, priority=9).get(timeout=WAIT))
    try:
        broken.delay().get(timeout=WAIT)
    except ValueError as error:
        print("failed", error)
    print("ping", [answer["ok"] for worker in app.control.ping(timeout=WAIT, limit=1) for answer in worker.values()])


if __name__ == "__main__":
    command = [sys.executable, "-B", "-m", "celery", "-A", "work", "worker", "--pool", "solo", "--loglevel", "error"]
    environment = {**os.environ, BROKER: sys.argv[1]}
    worker = subprocess.Popen(command, cwd=os.path.dirname(os.path.abspath(__file__)), env=environment, stdout=sys.stderr)
    try:
        give_work()
    finally:
        worker.terminate()
        worker.wait()
