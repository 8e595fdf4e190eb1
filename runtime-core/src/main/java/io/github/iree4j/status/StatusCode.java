package io.github.iree4j.status;

/**
 * IREE's canonical status codes. A code is chosen by the caller's next action, not by the internal cause.
 *
 * <p>The numbers equal the numbers of the IREE runtime ({@code iree/base/status.h}); compiled programs raise codes with
 * {@code vm.fail} and compare codes after {@code hal.fence.await}.
 */
public enum StatusCode {
    /** Success. */
    OK(0),
    /** The operation was cancelled, usually by its caller. */
    CANCELLED(1),
    /** A failure without a usable code from the origin. */
    UNKNOWN(2),
    /** The caller passed arguments that can never work; fix the call. */
    INVALID_ARGUMENT(3),
    /** The timeout expired before the operation completed; the operation may still complete. */
    DEADLINE_EXCEEDED(4),
    /** The named object does not exist. */
    NOT_FOUND(5),
    /** The object to be created exists already. */
    ALREADY_EXISTS(6),
    /** The caller may not execute this operation on this object. */
    PERMISSION_DENIED(7),
    /** A budget or limit is used up; request less, or later. */
    RESOURCE_EXHAUSTED(8),
    /** The system is not in the state needed by the operation (closed, not yet recorded); change the state first. */
    FAILED_PRECONDITION(9),
    /** The operation was abandoned, for example because its device was lost. */
    ABORTED(10),
    /** An offset, length or index lies outside its object. */
    OUT_OF_RANGE(11),
    /** Not implemented or not supported in this configuration. */
    UNIMPLEMENTED(12),
    /** An invariant of the runtime or of the program is broken; report the failure. */
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
     * Returns the code of a number; numbers without a code are {@link #UNKNOWN}, never {@link #OK}.
     *
     * @param number a canonical number
     * @return the code
     */
    public static StatusCode of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
    }
}
