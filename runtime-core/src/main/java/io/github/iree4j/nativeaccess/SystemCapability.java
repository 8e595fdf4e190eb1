package io.github.iree4j.nativeaccess;

/** An ability of the operating system that not every system has. Functions of an absent ability fail with UNIMPLEMENTED. */
public enum SystemCapability {
    /** Descriptors that become readable, and waits for descriptors: {@link EventDescriptor}, {@link EventPoller}. */
    EVENTS(1),

    /** Views of sealed memory that notice stores: {@link PrivateView}. */
    VIEWS(2),

    /** Executables loaded by the system's loader. */
    SYSTEM_LIBRARIES(4),

    /** Threads restricted to processors: {@link NativeThreads}. */
    AFFINITY(8);

    private final int bit; // SHIM_CAPABILITY_* in shim.h

    SystemCapability(int bit) {
        this.bit = bit;
    }

    /**
     * Returns whether this process has the ability.
     *
     * @return false without the native library
     */
    public boolean isPresent() {
        return NativeLibrary.unavailabilityCause() == null && (Shim.capabilities() & bit) != 0;
    }
}
