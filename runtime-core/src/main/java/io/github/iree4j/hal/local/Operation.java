package io.github.iree4j.hal.local;

import io.github.iree4j.status.IreeException;

/**
 * What a submission does once its waits are reached. Buffers it names are pinned while {@link #run} uses them; {@link #retain} and
 * {@link #release} are called when it has to wait, so that they live until then.
 */
abstract class Operation {
    private final String name;

    Operation(String name) {
        this.name = name;
    }

    /** Names the operation in messages. */
    final String name() {
        return name;
    }

    /**
     * Does the work.
     *
     * @throws IreeException the failure that the operation's signals get
     */
    abstract void run();

    /** A kept operation has failed, or will not run: a wait failed or the device was closed. */
    void fail(IreeException cause) {}

    /** Copies what the caller may change after the submission, and retains what the operation uses. */
    abstract void retain();

    /** Undoes {@link #retain}. */
    abstract void release();
}
