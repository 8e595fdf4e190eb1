package io.github.iree4j;

import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.call.ProgramCalls;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.ArrivedBytes;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.tensor.ElementCodec;
import io.github.iree4j.tensor.HeapElements;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.tensor.TensorText;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Modules loaded for a runtime's devices, with parameters and state kept between calls.
 *
 * <p>Any thread may use a program. The calls of a program run one after the other, because the calls share state. For
 * concurrent calls, load the program twice ({@link #newInstance()}), or declare that the program keeps no state ({@link
 * ProgramOptions.Builder#overlappingCalls}). Closing a program cancels calls in progress and waits for their end;
 * {@link #retire()} lets calls finish. Later calls fail with FAILED_PRECONDITION, or go to the successor ({@link
 * #retire(Program)}). Results outlive the program.
 */
public final class Program implements AutoCloseable {
    /** Limit for closing a program, equal to the limit for closing a device. */
    static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final IreeRuntime runtime;
    private final List<Device> devices;
    private final String name;
    final ProgramLoader.Loaded loaded;
    private final List<CompiledFunction> compiled = new ArrayList<>();
    private final Map<String, ProgramFunction> functions = new LinkedHashMap<>(); // by full name, including variants
    private final List<ProgramFunction> listed;
    private final List<Part> parts;
    private final ProgramCalls calls;
    private final Leaks.Watch watch;
    private volatile @Nullable Duration callLimit; // null for none
    private volatile @Nullable Succession succession; // written under the lock of the class Succession

    /** Programs that have taken each other's place. Shared by all these programs, so that programs in between are not kept. */
    private static final class Succession {
        private volatile Program last;

        Succession(Program last) {
            this.last = last;
        }
    }

    /**
     * A further module, loaded as a separate program.
     *
     * @param function the function with variants in this module
     * @param sizes the compiled sizes of these variants, where the module does not declare sizes
     * @param program closed with the containing program
     */
    record Part(String function, Map<String, Long> sizes, Program program) {}

    /**
     * Takes ownership of the loaded modules, and of the parts unless this constructor throws. The caller has entered
     * the runtime for this program.
     */
    Program(IreeRuntime runtime, List<Device> devices, ProgramLoader.Loaded loaded, List<Part> parts) {
        this.runtime = runtime;
        this.devices = devices;
        this.loaded = loaded;
        this.name = loaded.modules().getLast().name();
        this.calls = new ProgramCalls(
                loaded.consumer(),
                loaded.context(),
                new DeviceMemory(devices, loaded.consumer()),
                loaded.operations(),
                runtime.executor(),
                loaded.hasJava(),
                loaded.overlaps(),
                loaded.inPlace(),
                loaded.callListener(),
                loaded::explained,
                this::free);
        this.parts = List.copyOf(parts);
        for (VmModule module : loaded.modules()) {
            BitSet waiting = waitingOnHost(module);
            for (VmFunction function : module.exports()) {
                if (!function.name().startsWith("__")) {
                    CompiledFunction callable = new CompiledFunction(
                            this, calls, loaded.signature(function), waiting.get(function.ordinal()));
                    if (functions.putIfAbsent(callable.key(), callable) == null) {
                        compiled.add(callable);
                    }
                }
            }
        }
        this.listed = bindVariants();
        this.watch = runtime.leaks().watch(this, "'" + describe() + "'");
    }

    /** The functions with code that may wait for a fence. Unknown for modules written in Java. */
    private static BitSet waitingOnHost(VmModule module) {
        return module instanceof BytecodeModule compiled ? compiled.callersOf("hal.fence.await") : new BitSet();
    }

    /** Binds functions to their variants. Variants are then no longer listed separately. */
    private List<ProgramFunction> bindVariants() {
        Set<ProgramFunction> hidden = new HashSet<>();
        compiled.stream().filter(this::isTwin).forEach(hidden::add);
        for (VariantOptions each : loaded.variants(compiled)) {
            if (compiled.stream().anyMatch(one -> one.name().equals(each.function()) && hidden.contains(one))) {
                continue; // declares rules, but is itself a variant
            }
            List<VariantBinder.Further> further = parts.stream()
                    .filter(part -> part.function().equals(each.function()))
                    .map(part -> new VariantBinder.Further(part.program().compiled, part.sizes()))
                    .toList();
            VariantFunction function = new VariantFunction(
                    this, new VariantBinder(each, compiled, further, loaded.consumer(), loaded.variantListener()));
            function.variants().all().forEach(variant -> hidden.add(variant.function()));
            functions.put(function.key(), function);
        }
        return functions.values().stream()
                .filter(function -> !hidden.contains(function))
                .toList();
    }

    /** Whether a function is another function with fences: compilers up to 2024 export each function twice. */
    private boolean isTwin(CompiledFunction function) {
        return function.isAsynchronous()
                && function.key().endsWith(Signature.WITH_FENCES)
                && functions.containsKey(
                        function.key().substring(0, function.key().length() - Signature.WITH_FENCES.length()));
    }

    /**
     * Returns the name of the last module.
     *
     * @return for example {@code module}
     */
    public String name() {
        return name;
    }

    /** Returns the name of the program in messages. */
    String describe() {
        return loaded.name();
    }

    /**
     * Returns the modules that the program was loaded from, without modules of the runtime.
     *
     * @return in the order of loading
     */
    public List<VmModule> modules() {
        return loaded.modules();
    }

    /**
     * Returns likely faults of the program, although the program could be loaded, see {@link ProgramCheck}; faults
     * are logged as well.
     *
     * @return a sentence for each fault; usually empty
     */
    public List<String> warnings() {
        return Stream.concat(
                        loaded.warnings().stream(), parts.stream().flatMap(part -> part.program().warnings().stream()))
                .toList();
    }

    /**
     * Returns the devices seen by the program's modules.
     *
     * @return borrowed
     */
    public List<Device> devices() {
        return devices;
    }

    /**
     * Returns all functions exported by the modules. Not listed, but callable, are variants of another function, see
     * {@link FunctionVariants}, and {@code f$async} next to {@code f}: the same function with fences.
     *
     * @return in the order of modules and exports
     */
    public List<ProgramFunction> functions() {
        return listed;
    }

    /**
     * Finds a function.
     *
     * @param functionName {@code module.add}, or {@code add} for the last module with such a function; also with the
     *     name of the program, see {@link ProgramFunction#fullName}
     * @return the function
     * @throws IreeException NOT_FOUND when there is no such function, naming the existing functions
     */
    public ProgramFunction function(String functionName) {
        return last().find(functionName);
    }

    private ProgramFunction find(String functionName) {
        ProgramFunction found = findOfModules(functionName);
        if (found == null && functionName.startsWith(describe() + ".")) {
            found = findOfModules(functionName.substring(describe().length() + 1));
        }
        if (found != null) {
            return found;
        }
        throw new IreeException(
                StatusCode.NOT_FOUND,
                "program '%s' has no function '%s' (it has: %s)"
                        .formatted(
                                describe(),
                                TensorText.abbreviate(functionName),
                                listed.isEmpty()
                                        ? "none"
                                        : listed.stream()
                                                .limit(20)
                                                .map(ProgramFunction::name)
                                                .collect(Collectors.joining(", "))));
    }

    private @Nullable ProgramFunction findOfModules(String functionName) {
        ProgramFunction exact = functions.get(functionName);
        if (exact != null) {
            return exact;
        }
        List<VmModule> modules = loaded.modules();
        for (int i = modules.size() - 1; i >= 0; i--) {
            ProgramFunction found = functions.get(modules.get(i).name() + "." + functionName);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /**
     * Loads the program again, for calls concurrent with calls of this program. The new program has separate state,
     * created anew by the initialisers, and shares code and parameter archives with this program.
     *
     * @return the other program; the caller closes the other program, before or after this program
     * @throws IreeException FAILED_PRECONDITION when this program is closed; the failure of an initialiser
     */
    public Program newInstance() {
        Program used = enter();
        try {
            Program again = runtime.loadAgain(used.devices, used.loaded, used.parts);
            again.callLimit = used.callLimit;
            return again;
        } finally {
            used.calls.exit();
        }
    }

    /**
     * Limits the duration of calls, waiting included; a call's own timeout may be shorter. Late calls fail with
     * DEADLINE_EXCEEDED. For {@link ProgramFunction#invoke} the calling thread is then interrupted, within 0.1 s, and
     * sees no interrupt; other calls end as in {@link ProgramFunction#call}. A call made by a thread within a call with
     * such a limit ends with the outer call. Calls passed to a successor have the successor's limit.
     * {@link #newInstance} passes the limit on. Thread-safe.
     *
     * @param limit for calls made from now on; null or zero for none, the default
     * @throws IreeException INVALID_ARGUMENT when the limit is negative
     */
    public void limitCalls(@Nullable Duration limit) {
        if (limit != null && limit.isNegative()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "limit of %s for calls must not be negative".formatted(DurationText.of(limit)));
        }
        callLimit = limit == null || limit.isZero() ? null : limit;
    }

    /**
     * Returns the limit of calls.
     *
     * @return null for none
     */
    public @Nullable Duration callLimit() {
        return callLimit;
    }

    ThreadDeadlines deadlines() {
        return runtime.deadlines();
    }

    /**
     * Creates an input in memory of the first device of this program, for use by calls without a copy.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param contents writes the elements, on this thread
     * @return the tensor; the caller closes the tensor
     * @throws IreeException RESOURCE_EXHAUSTED when the device has no memory for the tensor; INVALID_ARGUMENT for an
     *     impossible shape or a type without size; FAILED_PRECONDITION when the program is closed; any exception of
     *     {@code contents}
     * @throws IOException when {@code contents} throws an IOException
     */
    public Tensor upload(ElementType type, long[] shape, TensorContents contents) throws IOException {
        Program used = enter();
        try {
            return Tensor.adopt(used.memory().create(type, shape, contents::writeTo), used.memory(), leaks());
        } finally {
            used.calls.exit();
        }
    }

    /**
     * Creates an input from the next bytes of a stream, and no byte beyond the elements, in memory of the first device
     * of this program, for use by calls without a copy. Memory for more than 256 KB is allocated when a quarter of the
     * bytes has been read: a sender only announcing bytes gets no memory.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param in the elements, row-major, little-endian; read on this thread, not closed
     * @return the tensor; the caller closes the tensor
     * @throws IreeException OUT_OF_RANGE when the stream ends early; otherwise as {@link #upload(ElementType, long[], TensorContents)}
     * @throws IOException when the stream cannot be read
     */
    public Tensor upload(ElementType type, long[] shape, InputStream in) throws IOException {
        try (ArrivedBytes bytes = ArrivedBytes.of(in, ElementCodec.byteSize(type, shape), "tensor")) {
            return upload(type, shape, bytes::fill);
        }
    }

    /**
     * Creates an input for one call, on the Java heap: the call copies the input to the first device once admitted to
     * the device's memory. So the input takes no memory of the device while the call waits, and does not wait for a
     * slow or distant device. The elements are still on the heap where several inputs become one.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param contents writes the elements, on this thread
     * @return the tensor; needs no closing
     * @throws IreeException RESOURCE_EXHAUSTED when the heap has no room for the tensor; INVALID_ARGUMENT for an
     *     impossible shape or a type without size; FAILED_PRECONDITION when the program is closed; any exception of
     *     {@code contents}
     * @throws IOException when {@code contents} throws an IOException
     */
    public Tensor receive(ElementType type, long[] shape, TensorContents contents) throws IOException {
        Program used = enter();
        try {
            TensorElements elements =
                    new TensorElements(type, shape.clone(), HeapElements.allocate(ElementCodec.byteSize(type, shape)));
            contents.writeTo(elements.host());
            return new Tensor(elements);
        } finally {
            used.calls.exit();
        }
    }

    /**
     * Creates an input for one call, on the Java heap, from the next bytes of a stream, and no byte beyond the
     * elements. Memory for more than 256 KB is allocated when a quarter of the bytes has been read.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param in the elements, row-major, little-endian; read on this thread, not closed
     * @return the tensor; needs no closing
     * @throws IreeException OUT_OF_RANGE when the stream ends early; otherwise as {@link #receive(ElementType, long[], TensorContents)}
     * @throws IOException when the stream cannot be read
     */
    public Tensor receive(ElementType type, long[] shape, InputStream in) throws IOException {
        try (ArrivedBytes bytes = ArrivedBytes.of(in, ElementCodec.byteSize(type, shape), "tensor")) {
            return receive(type, shape, bytes::fill);
        }
    }

    /**
     * Returns the number of calls in progress: running, waiting, or in line for their turn.
     *
     * @return the number at some moment
     */
    public int activeCalls() {
        return calls.active()
                + parts.stream().mapToInt(part -> part.program().activeCalls()).sum();
    }

    /**
     * Describes calls in progress and their waits, including synchronous calls.
     *
     * @param limit maximum number
     * @return a snapshot, oldest first
     */
    public List<PendingCall> pendingCalls(int limit) {
        List<PendingCall> own = calls.describe(limit, PendingCall::of);
        if (parts.isEmpty()) {
            return own;
        }
        return Stream.concat(own.stream(), parts.stream().flatMap(part -> part.program().pendingCalls(limit).stream()))
                .sorted(Comparator.comparing(PendingCall::since).reversed())
                .limit(limit)
                .toList();
    }

    /**
     * Ends one call in progress, in any state, as if the caller had cancelled the call: the call fails with CANCELLED.
     * For a synchronous call, the calling thread is interrupted, and sees no interrupt after the call. Code running on
     * a device is not stopped, but work waiting to run is withdrawn. Returns at once. Safe from any thread.
     *
     * @param id the {@linkplain PendingCall#id number} of the call
     * @return false when this program has no such call in progress
     */
    public boolean cancelCall(long id) {
        return cancelWith(id, " by an operator");
    }

    /**
     * Ends one call in progress, as {@link #cancelCall(long)} does, where no operator asked for the end.
     *
     * @param id the {@linkplain PendingCall#id number} of the call
     * @param why the reason, for the text of the failure
     * @return false when this program has no such call in progress
     */
    public boolean cancelCall(long id, String why) {
        return cancelWith(id, ": " + why);
    }

    private boolean cancelWith(long id, String how) {
        return calls.cancel(id, how)
                || parts.stream().anyMatch(part -> part.program().cancelWith(id, how));
    }

    /**
     * Returns the number of calls waiting for their turn now, and the number and waiting time of calls that have
     * waited.
     *
     * @return a snapshot
     */
    public TurnStatistics turns() {
        TurnStatistics own =
                new TurnStatistics(calls.inLine(), calls.waitedInLine(), Duration.ofNanos(calls.waitedInLineNanos()));
        return parts.stream().map(part -> part.program().turns()).reduce(own, TurnStatistics::plus);
    }

    /**
     * Implements an interface by functions of this program.
     *
     * <pre>{@code
     * interface Calculator {
     *     float[] add(float[] a, float[] b);
     *     @Import("module.add") CompletableFuture<Tensor> addLater(Tensor a, Tensor b);
     * }
     * }</pre>
     *
     * <p>A method calls the function named by the method's {@link io.github.iree4j.module.Import}, or else by the
     * method's name, found as by {@link #function}. Parameters are inputs as for {@link ProgramFunction#invoke}. A
     * result is a {@link Tensor} (the caller closes the tensor), a Java array or number (the tensor is copied and
     * freed), a {@code String} or {@code byte[]} for a {@code !vm.buffer}, a {@code List}, an {@code Object}; several
     * results are a record, or {@link Results}. A method returning a {@link java.util.concurrent.CompletableFuture} of
     * such a result calls as {@link ProgramFunction#invokeAsync}. An import on a default method is optional.
     *
     * @param type the interface, in a package that is open to this module
     * @param <T> the interface
     * @return an object for use from any thread, for as long as the program is open
     * @throws IreeException NOT_FOUND when a function is absent, INVALID_ARGUMENT when the function takes or returns
     *     another number of values than the method, or values of other kinds; both name function and method
     * @throws IllegalArgumentException when the type cannot be implemented
     */
    public <T> T bind(Class<T> type) {
        return new ProgramInterface(this).bind(type);
    }

    /**
     * Returns whether {@link #close()} or {@link #retire()} was called.
     *
     * @return true once the program itself runs no further calls
     */
    public boolean isClosed() {
        return calls.isClosed();
    }

    /**
     * Returns the reason why calls fail: a file used in place by the program, such as a parameter archive, was changed,
     * see {@link io.github.iree4j.status.FileInPlace}. Loading the program again ends the failure, and so does
     * restoring the file. Never waits for a file system that may hang: the answer is that of an earlier look.
     *
     * @return DATA_LOSS, with the path of the file; UNAVAILABLE, with the path, while the file system of a file gives no
     *     answer; null while there is no such cause, or no cause is known yet
     */
    public @Nullable IreeException failure() {
        IreeException own = loaded.inPlace().failure();
        for (Part part : parts) {
            own = own == null ? part.program().failure() : own;
        }
        return own;
    }

    /**
     * Refuses further calls, and returns at once: calls in progress and submitted work finish, and the last call frees
     * the program. Work waiting for a fence that is never reached keeps the program loaded: {@link #close()} the
     * program in this case. Idempotent.
     */
    public void retire() {
        refuse(null);
    }

    /**
     * Refuses further calls, as {@link #retire()} does, with the failure of later calls while there is no successor.
     *
     * @param why has the status and the message of the failures
     */
    public void retire(IreeException why) {
        refuse(why);
    }

    private void refuse(@Nullable IreeException why) {
        if (calls.close(why)) {
            watch.closed();
        }
        parts.forEach(part -> part.program().refuse(why));
    }

    /**
     * Refuses further calls in favour of another program, which takes the place of this program. Later calls of
     * functions, {@link #upload} and {@link #newInstance} go to the successor, where a function of the same name must
     * exist. So objects holding this program, a function of this program or a bound interface follow the replacement.
     * Descriptions, such as {@link #functions} and {@link #devices}, remain as before. A program closed already still
     * gets a successor; a program with a successor keeps the successor. A successor passes the calls on when retired in
     * turn, and refuses the calls when closed.
     *
     * @param successor another program of the same runtime; not closed with this program
     */
    public void retire(Program successor) {
        synchronized (Succession.class) {
            Succession ours = succession;
            boolean isFree = ours == null || ours.last == this;
            if (isFree && !successor.isClosed()) { // an open successor leads nowhere else: no cycles
                if (ours == null) {
                    ours = new Succession(successor);
                    succession = ours;
                }
                ours.last = successor;
                if (successor.succession == null) {
                    successor.succession = ours;
                }
            }
        }
        retire();
    }

    /** The destination of this program's calls: the program itself while there is no successor. */
    private Program last() {
        Program last = this;
        for (Succession next = succession; next != null && next.last != last; next = last.succession) {
            last = next.last;
        }
        return last;
    }

    /** The destination of calls of this program's function. */
    ProgramFunction successor(ProgramFunction function) {
        Program last = last();
        if (last == this) {
            return function;
        }
        ProgramFunction same = last.functions.get(function.key());
        return same != null ? same : last.find(function.name());
    }

    /** Whether a failure is the refusal of a call that a successor can make. */
    boolean hasHandedOver(IreeException failure) {
        return last() != this
                && (calls.hasRefused(failure)
                        || parts.stream().anyMatch(part -> part.program().calls.hasRefused(failure)));
    }

    /** Begins a use of this program or the successor. */
    private Program enter() {
        Program used = last();
        while (true) {
            try {
                used.calls.enter();
                return used;
            } catch (IreeException e) {
                Program next = used.last();
                if (next == used) {
                    throw e;
                }
                used = next;
            }
        }
    }

    /**
     * Refuses further calls, cancels calls in progress, withdraws their pending operations, and waits until everything
     * has ended and the program is freed: then only results held by the caller use the program's memory. Calls fail
     * with CANCELLED, and so do the fences to be signalled by these calls.
     *
     * <p>Does not wait on threads that the shutdown may need: in a call of the program, on a worker, in a callback of a
     * timeline. Stops waiting when the thread is interrupted (the thread stays interrupted), and after ten seconds,
     * with a warning in the log; remaining calls then end by themselves, and the last call frees the program.
     * Idempotent.
     */
    @Override
    public void close() {
        giveUp();
        awaitEnd(System.nanoTime() + CLOSE_NANOS);
    }

    /** Waits for the program's end until a moment common to all parts. */
    void awaitEnd(long deadline) {
        calls.awaitEnd(deadline - System.nanoTime());
        parts.forEach(part -> part.program().awaitEnd(deadline));
    }

    /** Closes without waiting. */
    void giveUp() {
        retire();
        calls.giveUp();
        parts.forEach(part -> part.program().giveUp());
    }

    @Override
    public String toString() {
        return "program '" + describe() + "'" + (isClosed() ? " (closed)" : "");
    }

    DeviceMemory memory() {
        return calls.memory();
    }

    Leaks leaks() {
        return runtime.leaks();
    }

    private void free() {
        compiled.forEach(CompiledFunction::free);
        loaded.close();
        runtime.freed(this);
    }
}
