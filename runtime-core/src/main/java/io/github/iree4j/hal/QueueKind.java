package io.github.iree4j.hal;

/** How a queue runs what is issued to it. */
public enum QueueKind {
    /**
     * One after the other, in the order of issue, like a stream of a GPU. An operation has its epoch when it is issued, and runs after
     * everything issued before it.
     */
    FIFO,
    /**
     * Each as soon as its waits are reached, like workers that share a list. An operation has its epoch when it completes, and runs
     * after what it waited for and nothing else.
     */
    UNORDERED
}
