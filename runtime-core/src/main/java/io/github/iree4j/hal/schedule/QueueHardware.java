package io.github.iree4j.hal.schedule;

/** The hardware that runs the queues of a device whose memory and code come from another backend. */
public interface QueueHardware {

    /**
     * Creates the backend of a queue.
     *
     * @param queue its index
     * @return the backend; {@link #connect} gives it its scheduler before its first operation
     */
    QueueBackend backend(int queue);

    /**
     * Gives the backend of a queue its scheduler.
     *
     * @param queue the queue's index
     * @param scheduler the scheduler to which completions are reported
     */
    void connect(int queue, QueueScheduler scheduler);

    /**
     * Returns the group shared by devices whose queues can wait for one another.
     *
     * @return compared by identity
     */
    Object directGroup();
}
