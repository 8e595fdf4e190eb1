package io.github.iree4j.hal.schedule;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** The work of an operation that the host executes. For operations of devices that work on host memory. */
public interface HostWork {

    /**
     * Does the work. Called once, when the operation is due, on a thread that may be occupied for long.
     *
     * @return the failure, or null
     */
    @Nullable
    IreeException execute();
}
