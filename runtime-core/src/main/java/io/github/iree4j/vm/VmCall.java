package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A call as seen by the callee: arguments to read, results to set.
 *
 * <p>Arguments are read once, left to right, with the types of the calling convention. Reading another type fails with
 * INTERNAL, since the callee has the bug and not the caller. References are borrowed for the call. Results are set left
 * to right and reach the caller when the function returns. A call belongs to one thread and must not be kept
 * afterwards.
 */
@NotForApplications
public abstract class VmCall {
    /*
     * Arguments are not copied. letters[k] is the type of argument k with spans flattened: a span is one 'C' and then
     * the elements. For a 'C', operands[k] is the number of tuples. Otherwise operands[k] is the register holding the
     * value, relative to wordBase or refBase.
     */
    private static final char[] NO_LETTERS = {};

    private static final int[] NO_OPERANDS = {};

    private @Nullable VmFunction function;
    private char[] letters = NO_LETTERS;
    private int[] operands = NO_OPERANDS;
    private int argumentCount;
    private int[] words = NO_OPERANDS;
    private int wordBase;
    private @Nullable Object[] refs = new Object[0];
    private int refBase;
    private int cursor;

    private String resultLetters = "";
    private long[] resultWords = new long[4];
    private @Nullable Object[] resultRefs = new Object[4];
    private int resultCount;

    /** The nested call in progress of a root call, or null. */
    volatile @Nullable Invocation inner;

    private @Nullable VmWait wait;
    private boolean resumed;
    private @Nullable Object attachment;

    /** Constructor for callers: invocations and interpreters. */
    protected VmCall() {}

    // Methods for the callee.

    /**
     * Returns the callee.
     *
     * @return the function
     */
    public final VmFunction function() {
        if (function == null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "no call is in progress");
        }
        return function;
    }

    /**
     * Returns the type of the next argument.
     *
     * @return the letter, {@code C} at the start of a span, 0 after the last argument
     */
    public final char peek() {
        return cursor < argumentCount ? letters[cursor] : 0;
    }

    /**
     * Reads the next argument, an i32.
     *
     * @return the value
     */
    public final int i32() {
        return words[wordBase + take('i')];
    }

    /**
     * Reads the next argument, an i64.
     *
     * @return the value
     */
    public final long i64() {
        return wide(take('I'));
    }

    /**
     * Reads the next argument, an f32.
     *
     * @return the value
     */
    public final float f32() {
        return Float.intBitsToFloat(words[wordBase + take('f')]);
    }

    /**
     * Reads the next argument, an f64.
     *
     * @return the value
     */
    public final double f64() {
        return Double.longBitsToDouble(wide(take('F')));
    }

    /**
     * Reads the next argument, a reference that may be null.
     *
     * @param type the required type of a non-null reference
     * @param <T> the required type of a non-null reference
     * @return the object, borrowed for the call
     * @throws IreeException INVALID_ARGUMENT when the object has another type
     */
    public final <T> @Nullable T ref(Class<T> type) {
        Object object = refs[refBase + take('r')];
        if (object == null) {
            return null;
        }
        if (!type.isInstance(object)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "argument %d of '%s' is a %s where a %s is wanted"
                            .formatted(
                                    cursor - 1, function().fullName(), VmTypes.nameOf(object), type.getSimpleName()));
        }
        return type.cast(object);
    }

    /**
     * Reads the next argument, a reference that must not be null.
     *
     * @param type the required type
     * @param <T> the required type
     * @return the object, borrowed for the call
     * @throws IreeException INVALID_ARGUMENT when the reference is null or the object has another type
     */
    public final <T> T required(Class<T> type) {
        T object = ref(type);
        if (object == null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "argument %d of '%s' is null where a %s is wanted"
                            .formatted(cursor - 1, function().fullName(), type.getSimpleName()));
        }
        return object;
    }

    /**
     * Starts reading a span; the elements of the tuples follow as arguments.
     *
     * @return the number of tuples
     */
    public final int spanCount() {
        return take('C');
    }

    /**
     * Sets the next result, an i32.
     *
     * @param value the result
     */
    public final void returnI32(int value) {
        resultWords[give('i')] = value;
    }

    /**
     * Sets the next result, an i64.
     *
     * @param value the result
     */
    public final void returnI64(long value) {
        resultWords[give('I')] = value;
    }

    /**
     * Sets the next result, an f32.
     *
     * @param value the result
     */
    public final void returnF32(float value) {
        resultWords[give('f')] = Float.floatToRawIntBits(value);
    }

    /**
     * Sets the next result, an f64.
     *
     * @param value the result
     */
    public final void returnF64(double value) {
        resultWords[give('F')] = Double.doubleToRawLongBits(value);
    }

    /**
     * Sets the next result, a reference. The function's reference passes to the caller: return newly created objects as
     * they are; first retain borrowed or kept objects.
     *
     * @param owned the result
     */
    public final void returnRef(@Nullable Object owned) {
        resultRefs[give('r')] = owned;
    }

    /**
     * Defers the call: the call sets no results now, and is made again, with {@link #resumed()} true and the arguments
     * readable from the start, once the wait is ready. The function must return directly after deferring.
     *
     * @param until the wait
     */
    public final void defer(VmWait until) {
        wait = until;
    }

    /**
     * Returns whether the call was deferred earlier.
     *
     * @return true when the function is called again after {@link #defer}
     */
    public final boolean resumed() {
        return resumed;
    }

    /**
     * Returns the name of the invoked function in messages.
     *
     * @return the name given to the invocation, for example {@code digits.classify}; otherwise with the name of the
     *     module, {@code module.classify}
     */
    public abstract String calledAs();

    /**
     * Returns whether the invocation has been cancelled. Long-running functions should check repeatedly, and fail with
     * CANCELLED.
     *
     * @return true once cancelled
     */
    public abstract boolean isCancelled();

    /**
     * Returns the object attached to the call while it is deferred.
     *
     * @return the object attached last, or null
     */
    public final @Nullable Object attachment() {
        return attachment;
    }

    /**
     * Attaches an object to the call while it is deferred. An {@link AutoCloseable} object is closed when the call is
     * abandoned.
     *
     * @param object the object, or null
     */
    @SuppressWarnings("ReferenceEquality") // the same object need not be written again
    public final void attach(@Nullable Object object) {
        if (attachment != object) {
            attachment = object;
        }
    }

    // Methods for the caller.

    /**
     * Starts a call, or continues a deferred call.
     *
     * @param callee the function
     * @param argumentLetters types of the arguments, spans flattened
     * @param argumentOperands for each argument the register, or the number of tuples of a span
     * @param count number of arguments, spans flattened
     * @param again whether the call was deferred earlier
     */
    @SuppressWarnings("ReferenceEquality") // the same object need not be written again
    protected final void begin(
            VmFunction callee, char[] argumentLetters, int[] argumentOperands, int count, boolean again) {
        // Calls are old objects, and writing a reference into an old object is expensive (GC barriers).
        if (function != callee) {
            function = callee;
            resultLetters = callee.convention().results();
        }
        if (letters != argumentLetters) {
            letters = argumentLetters;
        }
        if (operands != argumentOperands) {
            operands = argumentOperands;
        }
        argumentCount = count;
        cursor = 0;
        resultCount = 0;
        if (wait != null) {
            wait = null;
        }
        resumed = again;
        if (resultLetters.length() > resultWords.length) {
            resultWords = new long[resultLetters.length()];
            resultRefs = new Object[resultLetters.length()];
        }
    }

    /**
     * Sets the location of the arguments.
     *
     * @param wordRegisters array of the value bank
     * @param firstWord index of register 0 in the value bank
     * @param refRegisters array of the reference bank
     * @param firstRef index of register 0 in the reference bank
     */
    @SuppressWarnings("ReferenceEquality") // the same object need not be written again
    protected final void bind(int[] wordRegisters, int firstWord, @Nullable Object[] refRegisters, int firstRef) {
        if (words != wordRegisters) {
            words = wordRegisters;
        }
        wordBase = firstWord;
        if (refs != refRegisters) {
            refs = refRegisters;
        }
        refBase = firstRef;
    }

    /**
     * Ends a call after the function has returned.
     *
     * @return true when the call has completed and set all results; false when the call is deferred
     * @throws IreeException INTERNAL when results are missing
     */
    protected final boolean end() {
        if (wait != null) {
            if (resultCount != 0) {
                dropResults();
                throw IreeException.of(
                        StatusCode.INTERNAL, "'" + function().fullName() + "' deferred after setting results");
            }
            return false;
        }
        if (resultCount != resultLetters.length()) {
            int set = resultCount;
            dropResults();
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "'%s' set %d of %d results".formatted(function().fullName(), set, resultLetters.length()));
        }
        return true;
    }

    /**
     * Returns the root call enclosing this call.
     *
     * @return the root; this call when not nested
     */
    protected VmCall root() {
        return this;
    }

    /**
     * Returns the wait of a deferred call.
     *
     * @return the wait, or null when the call is not deferred
     */
    protected final @Nullable VmWait pendingWait() {
        return wait;
    }

    /**
     * Returns a result that is a value.
     *
     * @param index the position
     * @return the bits, an i32 sign-extended
     */
    protected final long resultWord(int index) {
        return resultWords[index];
    }

    /**
     * Returns a result that is a reference, still owned by this call.
     *
     * @param index the position
     * @return the object
     */
    protected final @Nullable Object resultRef(int index) {
        return resultRefs[index];
    }

    /**
     * Takes a result that is a reference.
     *
     * @param index the position
     * @return the object, now owned by the caller of this method
     */
    protected final @Nullable Object takeResultRef(int index) {
        Object object = resultRefs[index];
        resultRefs[index] = null;
        return object;
    }

    /** Releases the results set so far, if any. */
    protected final void dropResults() {
        for (int i = 0; i < resultCount; i++) {
            if (takeResultRef(i) instanceof RefCounted counted) {
                counted.release();
            }
        }
        resultCount = 0;
    }

    /** Abandons a deferred call and closes the attachment. */
    protected final void abandon() {
        Object attached = attachment;
        attachment = null;
        wait = null;
        dropResults();
        if (attached instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw IreeException.of(
                        StatusCode.INTERNAL, "'" + function().fullName() + "' failed while being abandoned: " + e, e);
            }
        }
    }

    private int take(char letter) {
        int k = cursor;
        if (k >= argumentCount || letters[k] != letter) {
            throw misread(letter);
        }
        cursor = k + 1;
        return operands[k];
    }

    private long wide(int operand) {
        int at = wordBase + operand;
        return (words[at] & 0xFFFF_FFFFL) | ((long) words[at + 1] << 32);
    }

    private int give(char letter) {
        int k = resultCount;
        if (k >= resultLetters.length() || resultLetters.charAt(k) != letter) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "'%s' sets result %d as '%c' against its convention '%s'"
                            .formatted(
                                    function().fullName(), k, letter, function().convention()));
        }
        resultCount = k + 1;
        return k;
    }

    private IreeException misread(char letter) {
        return IreeException.of(
                StatusCode.INTERNAL,
                "'%s' reads argument %d as '%c' against its convention '%s' (arguments %s)"
                        .formatted(
                                function().fullName(),
                                cursor,
                                letter,
                                function().convention(),
                                new String(Arrays.copyOf(letters, argumentCount))));
    }
}
