package io.github.iree4j.task;

/** A thread with a reference to its worker. */
final class WorkerThread extends Thread {
    final Worker worker;

    WorkerThread(Worker worker, String name, long stackBytes) {
        super(null, worker, name, stackBytes, false);
        this.worker = worker;
        setDaemon(true);
    }
}
