package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Successive calls of a function: set the arguments in order, run, read the results in order.
 *
 * <pre>{@code
 * try (Invocation add = context.invocation(function)) {
 *   add.i32(1).i32(2).run();
 *   int sum = add.i32();
 * }
 * }</pre>
 *
 * <p>{@link #run()} blocks during every wait; {@link #start()} and {@link #resume()} return at each wait instead. After
 * a run, setting an argument starts the next call. Reusing an invocation reuses the stack, so a call allocates nothing.
 * Not thread-safe, except for {@link #cancel()}.
 */
@NotForApplications
public final class Invocation implements AutoCloseable {
    private static final int LOOK_MILLIS = 20;

    private enum Phase {
        ARGUMENTS,
        RUNNING,
        DEFERRED,
        RESULTS,
        CLOSED
    }

    private final @Nullable Context context;
    private final VmFunction function;
    private final VmCallable target;
    private final String argumentLetters;
    private final RootCall call;
    private Phase phase = Phase.ARGUMENTS;

    /** The latch that a blocked run() waits on, or null; a cancelling thread counts the latch down. */
    private volatile @Nullable CountDownLatch sleeping;

    private char[] letters;
    private int[] operands;
    private int argumentCount;
    private int[] words;
    private int wordCount;
    private @Nullable Object[] refs;
    private boolean[] owned; // whether the reference in refs was retained; same length as refs
    private int refCount;
    private int position;
    private int spanElementsLeft;
    private int spanStart;
    private int resultIndex;

    /** Whether this invocation retains the context. */
    private boolean held;

    Invocation(@Nullable Context context, VmFunction function, VmCallable target) {
        this(context, function, target, Long.MAX_VALUE);
    }

    /**
     * Calls a hook of a context. The invocation is unreachable and cannot be cancelled from outside.
     *
     * @param patience nanoseconds after which the hook is cancelled; {@link Long#MAX_VALUE} to cancel the hook when the
     *     thread is interrupted
     * @param unwanted also cancels the hook
     */
    static void runHook(VmFunction hook, VmCallable target, long patience, BooleanSupplier unwanted) {
        try (Invocation call = new Invocation(null, hook, target, patience).endsWhen(unwanted)) {
            call.run();
        }
    }

    private Invocation(@Nullable Context context, VmFunction function, VmCallable target, long patience) {
        this.context = context;
        call = new RootCall(context, function, context == null ? patience : RootCall.NO_HOOK);
        this.function = function;
        this.target = target;
        argumentLetters = function.convention().arguments();
        int guess = Math.max(4, argumentLetters.length());
        letters = new char[guess];
        operands = new int[guess];
        words = new int[2 * guess];
        refs = new Object[guess];
        owned = new boolean[guess];
    }

    /**
     * Returns the called function.
     *
     * @return the function
     */
    public VmFunction function() {
        return function;
    }

    /**
     * Sets the next argument, an i32.
     *
     * @param value the value
     * @return this invocation
     */
    public Invocation i32(int value) {
        append('i', word(value));
        return this;
    }

    /**
     * Sets the next argument, an i64.
     *
     * @param value the value
     * @return this invocation
     */
    public Invocation i64(long value) {
        append('I', wide(value));
        return this;
    }

    /**
     * Sets the next argument, an f32.
     *
     * @param value the value
     * @return this invocation
     */
    public Invocation f32(float value) {
        append('f', word(Float.floatToRawIntBits(value)));
        return this;
    }

    /**
     * Sets the next argument, an f64.
     *
     * @param value the value
     * @return this invocation
     */
    public Invocation f64(double value) {
        append('F', wide(Double.doubleToRawLongBits(value)));
        return this;
    }

    /**
     * Sets the next argument, a reference, and retains the object until the call ends.
     *
     * @param borrowed the object, or null
     * @return this invocation
     */
    public Invocation ref(@Nullable Object borrowed) {
        expect('r');
        if (borrowed instanceof RefCounted counted) {
            counted.retain();
        }
        return setRef(borrowed, true);
    }

    /**
     * Sets the next argument, a reference that the caller keeps until the call ends. The object is not retained.
     *
     * @param kept the object, or null
     * @return this invocation
     */
    public Invocation keptRef(@Nullable Object kept) {
        expect('r');
        return setRef(kept, false);
    }

    private Invocation setRef(@Nullable Object object, boolean retained) {
        if (refCount == refs.length) {
            refs = Arrays.copyOf(refs, 2 * refCount);
            owned = Arrays.copyOf(owned, 2 * refCount);
        }
        refs[refCount] = object;
        owned[refCount] = retained;
        append('r', refCount);
        refCount++;
        return this;
    }

    /**
     * Sets the next argument, a reference, to null. Same as {@link #ref(Object)} with null, but not ambiguous with
     * {@link #ref(Class)}.
     *
     * @return this invocation
     */
    public Invocation nullRef() {
        return ref((Object) null);
    }

    /**
     * Starts a span argument; the elements of the tuples are set next.
     *
     * @param tuples the number of tuples that follow
     * @return this invocation
     */
    public Invocation span(int tuples) {
        expect('C');
        if (tuples < 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "span of " + tuples + " tuples");
        }
        push('C', tuples);
        int end = argumentLetters.indexOf('D', position);
        int arity = end - position - 1;
        spanStart = position + 1;
        spanElementsLeft = Math.multiplyExact(tuples, arity);
        position = spanElementsLeft == 0 ? end + 1 : spanStart;
        return this;
    }

    /**
     * Calls the function and waits for the return.
     *
     * @throws IreeException the failure of the function; CANCELLED after {@link #cancel()}, or when the thread is
     *     interrupted while the function waits
     */
    public void run() {
        boolean done = start();
        while (!done) {
            try {
                awaitReady();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                giveUp();
                throw IreeException.of(
                        StatusCode.CANCELLED, "interrupted while '" + call.calledAs() + "' was waiting", e);
            }
            done = resume();
        }
    }

    /**
     * Calls the function from within another call of the same context and waits for the return. Cancelling the outer
     * call cancels this call.
     *
     * @param outer the enclosing call, on this thread
     * @throws IreeException as {@link #run()}
     */
    public void runWithin(VmCall outer) {
        VmCall root = outer.root();
        Invocation before = root.inner;
        // VM-4: runWithin() writes inner, then reads the flag of the outer call; cancel() does the reverse.
        root.inner = this;
        call.outer = root;
        try {
            run();
        } finally {
            root.inner = before;
            call.outer = null;
        }
    }

    /**
     * Calls the function until the function returns or waits.
     *
     * @return true when the function has returned; false when the call waits for {@link #pendingWait()} and must be
     *     resumed
     * @throws IreeException the failure of the function
     */
    public boolean start() {
        if (phase == Phase.RESULTS) {
            finishResults();
        }
        require(Phase.ARGUMENTS, "started");
        if (position != argumentLetters.length()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' with convention '%s' was given too few arguments (%d)"
                            .formatted(function.fullName(), function.convention(), argumentCount));
        }
        hold();
        return step(false);
    }

    /**
     * Continues a waiting call. If the wait is not ready yet, the call may return at once and wait again.
     *
     * @return true when the function has returned; false when the call waits again
     * @throws IreeException the failure of the function
     */
    public boolean resume() {
        require(Phase.DEFERRED, "resumed");
        return step(true);
    }

    /**
     * Returns the wait of a deferred call.
     *
     * @return the wait
     */
    public VmWait pendingWait() {
        require(Phase.DEFERRED, "asked for its wait");
        VmWait wait = call.pending();
        return wait == null ? VmWait.NONE : wait;
    }

    /**
     * Makes the call fail with CANCELLED soon: at the next backward jump or call in bytecode, when a function written
     * in Java checks, or at once while {@link #run()} blocks. Remains in force until {@link #reset()}. Safe from any
     * thread.
     */
    public void cancel() {
        call.cancel();
        CountDownLatch asleep = sleeping;
        if (asleep != null) {
            asleep.countDown();
        }
        Invocation nested = call.inner;
        if (nested != null) {
            nested.cancel();
        }
    }

    /**
     * Sets whether an interrupt of the running thread cancels the following calls, even while bytecode runs. An
     * interrupt always ends {@link #run()} while it blocks.
     *
     * @param wanted true to end a running call
     */
    public void endsWhenInterrupted(boolean wanted) {
        call.interruptible = wanted;
    }

    /**
     * Sets the name of the function in messages about the end of the following calls.
     *
     * @param name for example {@code digits.classify} of the module {@code module} in the program {@code digits}
     * @return this invocation
     */
    public Invocation calledAs(String name) {
        call.name = name;
        return this;
    }

    /**
     * Sets a condition, besides {@link #cancel()}, that cancels the following calls. The condition is checked wherever
     * bytecode checks for cancellation, and every {@value #LOOK_MILLIS} ms while {@link #run()} blocks.
     *
     * @param unwanted returns quickly, and stays true once true; null for no condition
     * @return this invocation
     */
    public Invocation endsWhen(@Nullable BooleanSupplier unwanted) {
        call.unwanted = unwanted;
        return this;
    }

    /**
     * Reads the next result, an i32.
     *
     * @return the value
     */
    public int i32() {
        return (int) call.word(result('i'));
    }

    /**
     * Reads the next result, an i64.
     *
     * @return the value
     */
    public long i64() {
        return call.word(result('I'));
    }

    /**
     * Reads the next result, an f32.
     *
     * @return the value
     */
    public float f32() {
        return Float.intBitsToFloat((int) call.word(result('f')));
    }

    /**
     * Reads the next result, an f64.
     *
     * @return the value
     */
    public double f64() {
        return Double.longBitsToDouble(call.word(result('F')));
    }

    /**
     * Reads the next result, a reference.
     *
     * @param type the required type of a non-null reference
     * @param <T> the required type of a non-null reference
     * @return the object, borrowed until the next call, {@link #reset()} or {@link #close()}
     */
    public <T> @Nullable T ref(Class<T> type) {
        return cast(call.borrow(result('r')), type);
    }

    /**
     * Takes ownership of the next result, a reference.
     *
     * @param type the required type of a non-null reference
     * @param <T> the required type of a non-null reference
     * @return the object, now owned by the caller, to be released by the caller
     */
    public <T> @Nullable T takeRef(Class<T> type) {
        int index = result('r');
        T object = cast(call.borrow(index), type);
        call.take(index);
        return object;
    }

    /** Discards set arguments, a waiting call, and results not taken. Setting an argument afterwards starts a new call. */
    public void reset() {
        if (phase == Phase.RUNNING) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "'" + function.fullName() + "' cannot be reset while it runs");
        }
        if (phase == Phase.CLOSED) {
            require(Phase.ARGUMENTS, "reset");
        }
        call.forgetCancel();
        giveUp();
        phase = Phase.ARGUMENTS;
    }

    /** Resets and frees. Idempotent. */
    @Override
    public void close() {
        if (phase == Phase.CLOSED) {
            return;
        }
        if (phase == Phase.RUNNING) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "'" + function.fullName() + "' cannot be closed while it runs; cancel it first");
        }
        giveUp();
        phase = Phase.CLOSED;
    }

    /** Retains the context, from the first run on. Counting references on each run would take longer than a short call. */
    private void hold() {
        if (context == null) {
            return;
        }
        if (held && context.isGivenUp()) {
            letGo(); // frees the context unless there are other holders
        }
        if (!held) {
            context.retain();
            held = true;
        }
    }

    private void letGo() {
        if (held && context != null) {
            held = false;
            context.release();
        }
    }

    private void giveUp() {
        boolean waiting = phase == Phase.DEFERRED;
        phase = Phase.ARGUMENTS;
        try {
            call.giveUp(waiting);
        } finally {
            dropArguments();
            resultIndex = 0;
            letGo();
        }
    }

    private boolean step(boolean again) {
        phase = Phase.RUNNING;
        boolean done = false;
        boolean failed = true;
        try {
            if (call.isCancelled()) {
                throw IreeException.of(StatusCode.CANCELLED, "call of '" + call.calledAs() + "' was cancelled");
            }
            call.enter(function, letters, operands, argumentCount, words, refs, again);
            target.call(call);
            done = call.leave();
            failed = false;
        } finally {
            if (failed) {
                phase = Phase.DEFERRED; // so a waiting call is unwound
                giveUp();
            } else if (done) {
                phase = Phase.RESULTS;
                resultIndex = 0;
                dropArguments();
                if (context != null && context.isGivenUp()) {
                    letGo();
                }
            } else {
                phase = Phase.DEFERRED;
            }
        }
        return done;
    }

    /**
     * Blocks until a waiting call can be resumed or is cancelled.
     *
     * @throws InterruptedException when the thread is interrupted first; the call still waits
     */
    public void awaitReady() throws InterruptedException {
        VmWait wait = pendingWait();
        if (wait.isReady()) {
            return;
        }
        CountDownLatch awake = new CountDownLatch(1);
        // VM-2: awaitReady() writes the latch, then reads the flag; cancel() does the reverse. So one of the two
        // threads sees the write of the other.
        sleeping = awake;
        try {
            if (!call.wasCancelled()) {
                wait.whenReady(awake::countDown);
                BooleanSupplier unwanted = call.unwanted;
                if (unwanted == null) {
                    awake.await();
                } else {
                    boolean over = unwanted.getAsBoolean();
                    while (!over) {
                        over = awake.await(LOOK_MILLIS, TimeUnit.MILLISECONDS) || unwanted.getAsBoolean();
                    }
                }
            }
        } finally {
            sleeping = null;
        }
    }

    private void require(Phase wanted, String what) {
        if (phase != wanted) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "call of '%s' cannot be %s while it is in phase %s".formatted(function.fullName(), what, phase));
        }
    }

    private void finishResults() {
        call.giveUp(false);
        resultIndex = 0;
        phase = Phase.ARGUMENTS;
    }

    private void dropArguments() {
        for (int i = 0; i < refCount; i++) {
            Object object = refs[i];
            refs[i] = null;
            if (owned[i] && object instanceof RefCounted counted) {
                counted.release();
            }
        }
        refCount = 0;
        wordCount = 0;
        argumentCount = 0;
        position = 0;
        spanElementsLeft = 0;
    }

    private void expect(char letter) {
        if (phase == Phase.RESULTS) {
            finishResults();
        }
        require(Phase.ARGUMENTS, "given an argument");
        char wanted = position < argumentLetters.length() ? argumentLetters.charAt(position) : 0;
        if (wanted != letter) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "argument %d of '%s' was given as '%c' against its convention '%s'"
                            .formatted(argumentCount, function.fullName(), letter, function.convention()));
        }
    }

    private void append(char letter, int operand) {
        expect(letter);
        push(letter, operand);
        position++;
        if (spanElementsLeft > 0) {
            spanElementsLeft--;
            if (argumentLetters.charAt(position) == 'D') {
                position = spanElementsLeft == 0 ? position + 1 : spanStart;
            }
        }
    }

    private void push(char letter, int operand) {
        if (argumentCount == letters.length) {
            letters = Arrays.copyOf(letters, 2 * argumentCount);
            operands = Arrays.copyOf(operands, 2 * argumentCount);
        }
        letters[argumentCount] = letter;
        operands[argumentCount] = operand;
        argumentCount++;
    }

    private int word(int value) {
        if (phase == Phase.RESULTS) {
            finishResults();
        }
        if (wordCount + 2 > words.length) {
            words = Arrays.copyOf(words, 2 * words.length);
        }
        words[wordCount] = value;
        return wordCount++;
    }

    private int wide(long value) {
        int low = word((int) value);
        word((int) (value >> 32));
        return low;
    }

    private int result(char letter) {
        require(Phase.RESULTS, "asked for a result");
        String results = function.convention().results();
        if (resultIndex >= results.length() || results.charAt(resultIndex) != letter) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "result %d of '%s' was read as '%c' against its convention '%s'"
                            .formatted(resultIndex, function.fullName(), letter, function.convention()));
        }
        return resultIndex++;
    }

    private <T> @Nullable T cast(@Nullable Object object, Class<T> type) {
        if (object == null) {
            return null;
        }
        if (!type.isInstance(object)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "result %d of '%s' is a %s where a %s is wanted"
                            .formatted(
                                    resultIndex - 1,
                                    function.fullName(),
                                    VmTypes.nameOf(object),
                                    type.getSimpleName()));
        }
        return type.cast(object);
    }
}
