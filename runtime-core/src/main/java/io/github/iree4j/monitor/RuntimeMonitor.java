package io.github.iree4j.monitor;

import io.github.iree4j.async.TimelineSemaphore;
import java.util.List;

/**
 * A runtime, as operators see it: {@link io.github.iree4j.IreeRuntime#monitor()}. Any thread may use a monitor, also of a
 * closed runtime, of which results may still be open.
 */
public interface RuntimeMonitor {
    /**
     * Returns the devices of the runtime by name.
     *
     * @return always the same object
     */
    DeviceMonitor devices();

    /**
     * Returns the workers of the runtime, and their places.
     *
     * @return always the same workers
     */
    Workers workers();

    /**
     * Returns the timelines created by the runtime that are open and still reachable, the timelines of fences included.
     *
     * @return a snapshot, by {@link TimelineSemaphore#id()}
     */
    List<TimelineSemaphore> timelines();

    /**
     * Returns the objects that are open now, and counts of objects dropped without being closed.
     *
     * @return a snapshot; clean when everything was closed
     */
    LeakReport leaks();

    /**
     * Returns the number of open tensors with device memory.
     *
     * @return the number, including tensors dropped without being closed
     */
    long openTensors();

    /**
     * Returns the number of tensors dropped without being closed, as far as the garbage collector has noticed.
     *
     * @return 0 in a correct application
     */
    long forgottenTensors();

    /**
     * Returns the versions of the runtime and of the supported programs.
     *
     * @return always the same versions
     */
    RuntimeVersions versions();
}
