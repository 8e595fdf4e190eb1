package io.github.iree4j.status;

/**
 * IREE's canonical status codes. A code is chosen by what the caller should do next, not by the internal cause.
 *
 * <p>The numbers are those of the IREE runtime ({@code iree/base/status.h}); compiled programs raise them with {@code vm.fail} and
 * compare them after {@code hal.fence.await}.
 */
public enum StatusCode {
    /** Success. */
    OK(0),
    /** The operation was cancelled, usually by its caller. */
    CANCELLED(1),
    /** A failure whose origin gave no usable code. */
    UNKNOWN(2),
    /** The caller passed something that can never work; fix the call. */
    INVALID_ARGUMENT(3),
    /** The timeout expired before the operation completed; it may still complete. */
    DEADLINE_EXCEEDED(4),
    /** The named object does not exist. */
    NOT_FOUND(5),
    /** The object to be created exists already. */
    ALREADY_EXISTS(6),
    /** The caller may not do this to that object. */
    PERMISSION_DENIED(7),
    /** A budget or limit is used up; ask for less, or later. */
    RESOURCE_EXHAUSTED(8),
    /** The system is not in the state the operation needs (closed, not yet recorded); change the state first. */
    FAILED_PRECONDITION(9),
    /** The operation was abandoned, for example because its device was lost. */
    ABORTED(10),
    /** An offset, length or index lies outside its object. */
    OUT_OF_RANGE(11),
    /** Not implemented or not supported in this configuration. */
    UNIMPLEMENTED(12),
    /** An invariant of the runtime or of the program is broken; report it. */
    INTERNAL(13),
    /** Not available now; trying again may help. */
    UNAVAILABLE(14),
    /** Data is lost or corrupt. */
    DATA_LOSS(15),
    /** The caller is not known. */
    UNAUTHENTICATED(16),
    /** Not done yet: the operation yielded and must be resumed. Never an error by itself. */
    DEFERRED(17),
    /** The object's version or format is not supported by this runtime. */
    INCOMPATIBLE(18);

    private static final StatusCode[] BY_NUMBER = values();

    private final int number;

    StatusCode(int number) {
        this.number = number;
    }

    /**
     * Returns the canonical number, 0 to 18.
     *
     * @return the number
     */
    public int number() {
        return number;
    }

    /**
     * Returns the code of a number; numbers that name no code are {@link #UNKNOWN}, never {@link #OK}.
     *
     * @param number a canonical number
     * @return its code
     */
    public static StatusCode of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
    }
}
