package io.github.iree4j;

import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.call.ProgramCalls;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
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
 * Modules loaded for a runtime's devices, with their parameters and the state they keep between calls.
 *
 * <p>Any thread may use a program. Its calls run one after the other, because they share that state; load it twice for concurrent
 * calls ({@link #newInstance()}), or declare that it keeps none ({@link ProgramOptions.Builder#overlappingCalls}). Closing it
 * cancels calls in progress and waits for their end; {@link #retire()} lets them finish. Later calls fail with FAILED_PRECONDITION, or
 * go to its successor ({@link #retire(Program)}). Results outlive the program.
 */
public final class Program implements AutoCloseable {
    /** The same as the limit for closing a device. */
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
    private volatile @Nullable Succession succession; // written under the lock of its class

    /** Programs each of which has taken the place of another. Shared by all, so that those in between are not kept. */
    private static final class Succession {
        private volatile Program last;

        Succession(Program last) {
            this.last = last;
        }
    }

    /**
     * A further module, loaded as its own program.
     *
     * @param function the function that it has variants of
     * @param sizes the sizes that these were compiled for, where the module does not declare them
     * @param program closed with the program that it is a part of
     */
    record Part(String function, Map<String, Long> sizes, Program program) {}

    /** Takes ownership of the loaded modules, and of the parts unless it throws; the caller has entered the runtime for it. */
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
                this::free);
        this.parts = List.copyOf(parts);
        for (VmModule module : loaded.modules()) {
            BitSet waiting = waitingOnHost(module);
            for (VmFunction function : module.exports()) {
                if (!function.name().startsWith("__")) {
                    CompiledFunction callable = new CompiledFunction(
                            this, calls, loaded.signature(function), waiting.get(function.ordinal()));
                    if (functions.putIfAbsent(callable.fullName(), callable) == null) {
                        compiled.add(callable);
                    }
                }
            }
        }
        this.listed = bindVariants();
        this.watch = runtime.leaks().watch(this, "'" + name + "'");
    }

    /** The functions whose code may wait for a fence. What is written in Java says nothing of that. */
    private static BitSet waitingOnHost(VmModule module) {
        return module instanceof BytecodeModule compiled ? compiled.callersOf("hal.fence.await") : new BitSet();
    }

    /** Binds functions to their variants, which are then no longer listed separately. */
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
            functions.put(function.fullName(), function);
        }
        return functions.values().stream()
                .filter(function -> !hidden.contains(function))
                .toList();
    }

    /** Whether a function is another one with fences: compilers up to 2024 export each twice. */
    private boolean isTwin(CompiledFunction function) {
        return function.isAsynchronous()
                && function.fullName().endsWith(Signature.WITH_FENCES)
                && functions.containsKey(function.fullName()
                        .substring(0, function.fullName().length() - Signature.WITH_FENCES.length()));
    }

    /**
     * Returns the name of its last module.
     *
     * @return for example {@code module}
     */
    public String name() {
        return name;
    }

    /**
     * Returns the modules it was loaded from, without those of the runtime.
     *
     * @return in the order of loading
     */
    public List<VmModule> modules() {
        return loaded.modules();
    }

    /**
     * Returns likely faults of the program, although it could be loaded, see {@link ProgramWarnings}; they are logged as well.
     *
     * @return one sentence each; usually empty
     */
    public List<String> warnings() {
        return Stream.concat(
                        loaded.warnings().stream(), parts.stream().flatMap(part -> part.program().warnings().stream()))
                .toList();
    }

    /**
     * Returns the devices its modules see.
     *
     * @return borrowed
     */
    public List<Device> devices() {
        return devices;
    }

    /**
     * Returns all functions that its modules export. Left out, but there to be called, are variants of another function, see {@link
     * FunctionVariants}, and {@code f$async} next to {@code f}: the same function with fences.
     *
     * @return in the order of modules and exports
     */
    public List<ProgramFunction> functions() {
        return listed;
    }

    /**
     * Finds a function.
     *
     * @param functionName {@code module.add}, or {@code add} for the last module that has one
     * @return the function
     * @throws IreeException NOT_FOUND when there is none, naming those there are
     */
    public ProgramFunction function(String functionName) {
        return last().find(functionName);
    }

    private ProgramFunction find(String functionName) {
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
        throw new IreeException(
                StatusCode.NOT_FOUND,
                "program '%s' has no function '%s' (it has: %s)"
                        .formatted(
                                name,
                                TensorText.abbreviate(functionName),
                                listed.isEmpty()
                                        ? "none"
                                        : listed.stream()
                                                .limit(20)
                                                .map(ProgramFunction::name)
                                                .collect(Collectors.joining(", "))));
    }

    /**
     * Loads the program again, for calls concurrent with those of this one: with its own state, created anew by its initialisers,
     * and sharing the code and the parameter archives of this one.
     *
     * @return the other program; the caller closes it, before or after this one
     * @throws IreeException FAILED_PRECONDITION when this is closed; the failure of an initialiser
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
     * Limits how long calls may take, waiting included; a call's own timeout may be shorter. They fail with DEADLINE_EXCEEDED: for
     * {@link ProgramFunction#invoke} its thread is then interrupted, within 0.1 s, and sees no interrupt; others end as in {@link
     * ProgramFunction#call}. A call that a thread makes within a call with such a limit ends with that one. Calls that go to a successor have
     * the limit of that, and {@link #newInstance} passes it on. Thread-safe.
     *
     * @param limit for calls made from now on; null or zero for none, the default
     * @throws IreeException INVALID_ARGUMENT when it is negative
     */
    public void limitCalls(@Nullable Duration limit) {
        if (limit != null && limit.isNegative()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "limit of %s for calls must not be negative".formatted(limit));
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
     * Creates an input in memory of the first device of this program, which its calls use without a copy.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param contents writes the elements, on this thread
     * @return the tensor; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED when the device has no memory for it; INVALID_ARGUMENT for an impossible shape or a type
     *     without size; FAILED_PRECONDITION when the program is closed; any exception of {@code contents}
     * @throws IOException when {@code contents} does
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
     * Creates an input of the next bytes of a stream, and no byte beyond the elements, in memory of the first device of this program, which
     * its calls use without a copy. Memory for more than 256 KB is allocated when a quarter of the bytes has been read: a sender that only
     * announces them gets none.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param in the elements, row-major, little-endian; read on this thread, not closed
     * @return the tensor; the caller closes it
     * @throws IreeException OUT_OF_RANGE when the stream ends early; otherwise as {@link #upload(ElementType, long[], TensorContents)}
     * @throws IOException when the stream cannot be read
     */
    public Tensor upload(ElementType type, long[] shape, InputStream in) throws IOException {
        try (ArrivedBytes bytes = ArrivedBytes.of(in, ElementCodec.byteSize(type, shape), "tensor")) {
            return upload(type, shape, bytes::fill);
        }
    }

    /**
     * Creates an input that one call takes, on the Java heap: the call copies it to the first device once it is admitted to that device's
     * memory. So it takes no memory of the device while the call waits, nor does it wait for a device that is slow or far away, and the
     * elements are still here where several inputs become one.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param contents writes the elements, on this thread
     * @return the tensor, which needs no closing
     * @throws IreeException RESOURCE_EXHAUSTED when the heap has no room for it; INVALID_ARGUMENT for an impossible shape or a type without
     *     size; FAILED_PRECONDITION when the program is closed; any exception of {@code contents}
     * @throws IOException when {@code contents} does
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
     * Creates an input that one call takes, on the Java heap, of the next bytes of a stream, and no byte beyond the elements. Memory for more
     * than 256 KB is allocated when a quarter of the bytes has been read.
     *
     * @param type the element type
     * @param shape the shape; empty for a scalar
     * @param in the elements, row-major, little-endian; read on this thread, not closed
     * @return the tensor, which needs no closing
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
     * Describes calls in progress and what they wait for, also those that run on the thread that made them.
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
     * Ends one call in progress, wherever it is, as if it was cancelled by its caller: it fails with CANCELLED. For a call that runs on the
     * thread that made it, that thread is interrupted, and sees no interrupt after the call. Code that a device runs is not stopped, but
     * what waits to run is withdrawn. Returns at once. Safe from any thread.
     *
     * @param id the {@linkplain PendingCall#id number} of the call
     * @return false when this program has no such call in progress
     */
    public boolean cancelCall(long id) {
        return calls.cancel(id)
                || parts.stream().anyMatch(part -> part.program().cancelCall(id));
    }

    /**
     * Returns how many calls wait for their turn now, and how many have waited, for how long.
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
     * <p>A method calls the function that its {@link io.github.iree4j.module.Import} or else its name says, as {@link #function} finds it. Parameters are
     * whatever {@link ProgramFunction#invoke} takes. A result is a {@link Tensor} (the caller closes it), a Java array or number, of which a tensor
     * is copied and freed, a {@code String} or {@code byte[]} for a {@code !vm.buffer}, a {@code List}, an {@code Object}; several are a record, or {@link Results}. A method that
     * returns a {@link java.util.concurrent.CompletableFuture} of those calls as {@link ProgramFunction#invokeAsync}. An import on a default method is optional.
     *
     * @param type the interface, in a package that is open to this module
     * @param <T> the interface
     * @return an object for use from any thread, for as long as the program is open
     * @throws IreeException NOT_FOUND when a function is absent, INVALID_ARGUMENT when it takes or returns another number of values than the method or of
     *     other kinds; both name function and method
     * @throws IllegalArgumentException when the type cannot be implemented
     */
    public <T> T bind(Class<T> type) {
        return new ProgramInterface(this).bind(type);
    }

    /**
     * Returns whether {@link #close()} or {@link #retire()} was called.
     *
     * @return true once it runs no further calls itself
     */
    public boolean isClosed() {
        return calls.isClosed();
    }

    /**
     * Returns why calls fail: a file that the program uses in place, such as a parameter archive, was changed, see {@link
     * io.github.iree4j.status.FileInPlace}. Loading it again heals that, and so does restoring the file.
     *
     * @return DATA_LOSS, with the path of the file; null while there is no such cause, or it is not known yet whether there is
     */
    public @Nullable IreeException failure() {
        IreeException own = loaded.inPlace().failure();
        for (Part part : parts) {
            own = own == null ? part.program().failure() : own;
        }
        return own;
    }

    /**
     * Refuses further calls, and returns at once: calls in progress and submitted work finish, and the last one frees the
     * program. Work that waits for a fence which is never reached keeps it loaded: {@link #close()} it in that case. Idempotent.
     */
    public void retire() {
        refuse(null);
    }

    /**
     * The same, with the reason that later calls fail with while there is no successor.
     *
     * @param why its status and message are those of the failures
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
     * The same in favour of another program, which takes the place of this one: later calls of its functions, {@link #upload} and
     * {@link #newInstance} go to that one, where a function of the same name must exist. So objects that hold this program, a function of it
     * or an interface that was bound to it follow its replacement. What describes it, such as {@link #functions} and {@link #devices},
     * remains as it was. A program that is closed already gets a successor all the same; one that has a successor keeps it. A successor
     * passes the calls on when it is retired in turn, and refuses them when it is closed.
     *
     * @param successor another program of the same runtime; not closed with this one
     */
    public void retire(Program successor) {
        synchronized (Succession.class) {
            Succession ours = succession;
            boolean isFree = ours == null || ours.last == this;
            if (isFree && !successor.isClosed()) { // an open one leads nowhere else, so there are no cycles
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

    /** The program that calls of this one go to: itself while it has no successor. */
    private Program last() {
        Program last = this;
        for (Succession next = succession; next != null && next.last != last; next = last.succession) {
            last = next.last;
        }
        return last;
    }

    /** The function that calls of one of this program's go to. */
    ProgramFunction successor(ProgramFunction function) {
        Program last = last();
        if (last == this) {
            return function;
        }
        ProgramFunction same = last.functions.get(function.fullName());
        return same != null ? same : last.find(function.name());
    }

    /** Whether a failure is the refusal of a call that a successor can make. */
    boolean hasHandedOver(IreeException failure) {
        return last() != this
                && (calls.hasRefused(failure)
                        || parts.stream().anyMatch(part -> part.program().calls.hasRefused(failure)));
    }

    /** Begins a use of this program or its successor. */
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
     * Refuses further calls, cancels those in progress, withdraws their pending operations, and waits until everything has ended
     * and the program is freed: then only results that the caller holds use its memory. Calls fail with CANCELLED, and so do the
     * fences that they were to signal.
     *
     * <p>Does not wait on threads that the shutdown may need: in a call of the program, on a worker, in a callback of a timeline.
     * Stops waiting when the thread is interrupted (it stays interrupted), and after ten seconds, with a warning in the log;
     * remaining calls then end by themselves, and the last frees the program. Idempotent.
     */
    @Override
    public void close() {
        giveUp();
        awaitEnd(System.nanoTime() + CLOSE_NANOS);
    }

    /** Waits for its end until a moment, of which all its parts have the same. */
    void awaitEnd(long deadline) {
        calls.awaitEnd(deadline - System.nanoTime());
        parts.forEach(part -> part.program().awaitEnd(deadline));
    }

    /** The same without waiting. */
    void giveUp() {
        retire();
        calls.giveUp();
        parts.forEach(part -> part.program().giveUp());
    }

    @Override
    public String toString() {
        return "program '" + name + "'" + (isClosed() ? " (closed)" : "");
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
