package io.github.iree4j.task;

/** A thread with a reference to its worker. */
final class WorkerThread extends Thread {
    final Worker worker;

    WorkerThread(Worker worker, String name) {
        super(null, worker, name, 0, false);
        this.worker = worker;
        setDaemon(true);
    }
}
