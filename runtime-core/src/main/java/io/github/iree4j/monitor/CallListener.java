package io.github.iree4j.monitor;

/** Listens to the calls of a program's functions, for example to name the calls in traces. */
@FunctionalInterface
public interface CallListener {
    /**
     * Called when a call begins, before the call waits or runs, on the calling thread; must return quickly and must not
     * throw.
     *
     * @param call the call's number in this process, above 0; the same in recordings and in descriptions of calls
     * @param caller the number of the call making this call; 0 for none
     */
    void begins(long call, long caller);
}
