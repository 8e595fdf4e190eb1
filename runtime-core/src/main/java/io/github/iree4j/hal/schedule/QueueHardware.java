package io.github.iree4j.hal.schedule;

/** What the queues of a device run on, for devices that have their memory and code from another backend. */
public interface QueueHardware {

    /**
     * Makes what a queue's operations are given to.
     *
     * @param queue its index
     * @return the backend; it is told its scheduler with {@link #connect} before it gets anything
     */
    QueueBackend backend(int queue);

    /**
     * Tells the backend of a queue its scheduler.
     *
     * @param queue the queue's index
     * @param scheduler to be told of completions
     */
    void connect(int queue, QueueScheduler scheduler);

    /**
     * Returns what devices whose queues can wait for one another have in common.
     *
     * @return compared by identity
     */
    Object directGroup();
}
