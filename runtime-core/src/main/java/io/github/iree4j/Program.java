package io.github.iree4j;

import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.call.ProgramCalls;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.monitor.ProgramMonitor;
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
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
    private final MonitoredProgram monitor;
    private final Leaks.Watch watch;
    private volatile @Nullable Duration timeout; // null for none
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
        this.monitor = new MonitoredProgram(
                calls,
                loaded,
                parts.stream().map(part -> part.program().monitor).toList());
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
            function.all().all().forEach(variant -> hidden.add(variant.function()));
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
     * Returns the name of the last module, which the compiler gives. Messages have the configured name instead, if there
     * is one, see {@link ProgramFunction#fullName}.
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
     * Returns what operators see: calls in progress and their end, and faults of the program.
     *
     * @return always the same object
     */
    public ProgramMonitor monitor() {
        return monitor;
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
        throw IreeException.of(
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
            again.timeout = used.timeout;
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
    public void setTimeout(@Nullable Duration limit) {
        if (limit != null && limit.isNegative()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "timeout of %s for calls must not be negative".formatted(DurationText.of(limit)));
        }
        timeout = limit == null || limit.isZero() ? null : limit;
    }

    /**
     * Returns the maximum duration of calls.
     *
     * @return empty for no limit
     */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }

    ThreadDeadlines deadlines() {
        return runtime.deadlines();
    }

    /**
     * Creates an input in memory of the first device of this program, for use by calls without a copy.
     *
     * @param type the element type
     * @param shape the shape
     * @param contents writes the elements, on this thread
     * @return the tensor; the caller closes the tensor
     * @throws IreeException RESOURCE_EXHAUSTED when the device has no memory for the tensor; INVALID_ARGUMENT for
     *     a type without size; FAILED_PRECONDITION when the program is closed; any exception of
     *     {@code contents}
     * @throws IOException when {@code contents} throws an IOException
     */
    public Tensor upload(ElementType type, Shape shape, TensorContents contents) throws IOException {
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
     * @param shape the shape
     * @param in the elements, row-major, little-endian; read on this thread, not closed
     * @return the tensor; the caller closes the tensor
     * @throws IreeException OUT_OF_RANGE when the stream ends early; otherwise as {@link #upload(ElementType, Shape, TensorContents)}
     * @throws IOException when the stream cannot be read
     */
    public Tensor upload(ElementType type, Shape shape, InputStream in) throws IOException {
        try (ArrivedBytes bytes = ArrivedBytes.of(in, ElementCodec.byteSize(type, shape.elementCount()), "tensor")) {
            return upload(type, shape, bytes::fill);
        }
    }

    /**
     * Creates an input for one call, on the Java heap: the call copies the input to the first device once admitted to
     * the device's memory. So the input takes no memory of the device while the call waits, and does not wait for a
     * slow or distant device. The elements are still on the heap where several inputs become one.
     *
     * @param type the element type
     * @param shape the shape
     * @param contents writes the elements, on this thread
     * @return the tensor; needs no closing
     * @throws IreeException RESOURCE_EXHAUSTED when the heap has no room for the tensor; INVALID_ARGUMENT for
     *     a type without size; FAILED_PRECONDITION when the program is closed; any exception of
     *     {@code contents}
     * @throws IOException when {@code contents} throws an IOException
     */
    public Tensor receive(ElementType type, Shape shape, TensorContents contents) throws IOException {
        Program used = enter();
        try {
            TensorElements elements = new TensorElements(
                    type, shape, HeapElements.allocate(ElementCodec.byteSize(type, shape.elementCount())));
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
     * @param shape the shape
     * @param in the elements, row-major, little-endian; read on this thread, not closed
     * @return the tensor; needs no closing
     * @throws IreeException OUT_OF_RANGE when the stream ends early; otherwise as {@link #receive(ElementType, Shape, TensorContents)}
     * @throws IOException when the stream cannot be read
     */
    public Tensor receive(ElementType type, Shape shape, InputStream in) throws IOException {
        try (ArrivedBytes bytes = ArrivedBytes.of(in, ElementCodec.byteSize(type, shape.elementCount()), "tensor")) {
            return receive(type, shape, bytes::fill);
        }
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
     * result is converted as by {@link ResultType}, or is a {@code String} for a {@code !vm.buffer}, or a reference of
     * any class, {@code Object} included; several results are a record, or {@link Results}. A method returning a {@link java.util.concurrent.CompletableFuture} of
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
