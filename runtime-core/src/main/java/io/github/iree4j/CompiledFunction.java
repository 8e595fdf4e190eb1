package io.github.iree4j;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.tensor.JavaArrays;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmFunction;
import java.lang.reflect.Array;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A function that a module exports. */
final class CompiledFunction extends ProgramFunction {
    /** How many stacks are kept for later calls; more than one are in use only while calls overlap. */
    private static final int KEPT = 16;

    private final Signature signature;
    private final String fullName;
    private final List<ValueDeclaration> arguments;
    private final List<ValueDeclaration> results;
    private final ProcessOptions processOptions;
    private final MemoryNeed need = new MemoryNeed();
    private final Supplier<@Nullable MemoryHolder> turn; // whose it is

    /** Not used by any call; taken and given back in the program's turn. */
    private final ArrayDeque<Invocation> idle = new ArrayDeque<>();

    CompiledFunction(Program program, VmFunction function) {
        super(program);
        this.turn = program::inTurn;
        this.signature = new Signature(function);
        this.fullName = function.fullName(); // put together each time
        this.arguments = signature.argumentDeclarations();
        this.results = signature.resultDeclarations();
        this.processOptions = CoroutineProcess.options(fullName);
    }

    @Override
    public String name() {
        return signature.function().name();
    }

    @Override
    public String fullName() {
        return fullName;
    }

    @Override
    public String declaration() {
        return signature.text();
    }

    @Override
    public Map<String, String> attributes() {
        return signature.function().attributes();
    }

    @Override
    public List<ValueDeclaration> arguments() {
        return arguments;
    }

    @Override
    public List<ValueDeclaration> results() {
        return results;
    }

    @Override
    public String argumentKinds() {
        return signature.arguments();
    }

    @Override
    public String resultKinds() {
        return signature.results();
    }

    @Override
    public boolean isAsynchronous() {
        return signature.isAsynchronous();
    }

    @Override
    public @Nullable FunctionVariants variants() {
        return null;
    }

    @Override
    public Tensor tensor(int index, Object value) {
        AbiDeclaration.Value declared = signature.declared(index);
        try {
            return new Tensor(JavaArrays.toElements(value, declared == null ? null : declared.tensor()));
        } catch (IreeException e) {
            throw new IreeException(
                    e.code(), "argument %d of function '%s': %s".formatted(index, fullName(), e.getMessage()), e);
        }
    }

    @Override
    public Results invoke(@Nullable Object... inputs) {
        program().enter();
        try {
            MemoryHolder outer = MemoryHolder.current();
            if (outer != null) { // has been let in, and waits for this one
                return invokeNested(outer, inputs);
            }
            if (program().isWorker()) {
                return invokeInside(inputs, holder());
            }
            long size = sizeOf(inputs);
            long wanted = need.of(size);
            admit(wanted);
            MemoryHolder holder = holder();
            try {
                return invokeInside(inputs, holder);
            } finally {
                need.learn(size, holder.peak());
                program().memory().exit(wanted);
            }
        } finally {
            program().exit();
        }
    }

    private Results invokeNested(MemoryHolder outer, @Nullable Object[] inputs) {
        MemoryHolder holder = holder();
        MemoryHolder before = outer.awaits(holder);
        try {
            return invokeInside(inputs, holder);
        } finally {
            outer.goesOn(before);
        }
    }

    private Results invokeInside(@Nullable Object[] inputs, MemoryHolder holder) {
        try (ArgumentList arguments = new ArgumentList(signature, program().memory(), holder, inputs)) {
            return program().run(this, Call.confined(fullName(), arguments));
        } finally {
            holder.end();
        }
    }

    /** A call that is to begin in its turn. */
    private MemoryHolder holder() {
        MemoryHolder holder = new MemoryHolder(fullName(), program().operations());
        holder.waitsForTurn(turn);
        return holder;
    }

    private void admit(long wanted) {
        try {
            program().memory().admit(wanted, () -> program().givenUp() != null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED,
                    "interrupted while a call of '%s' waited for %d bytes".formatted(fullName(), wanted),
                    e);
        }
        IreeException givenUp = program().givenUp();
        if (givenUp != null) {
            program().memory().exit(wanted);
            throw new IreeException(
                    StatusCode.CANCELLED,
                    "call of '%s' was cancelled: %s".formatted(fullName(), givenUp.getMessage()),
                    givenUp);
        }
    }

    /** How many bytes inputs have, about. */
    private static long sizeOf(@Nullable Object[] inputs) {
        long bytes = 0;
        for (Object input : inputs) {
            if (input instanceof Tensor tensor) {
                bytes += tensor.byteSize();
            } else if (input instanceof TransferredTensor given) {
                bytes += given.tensor().byteSize();
            } else if (input != null && input.getClass().isArray()) {
                bytes += sizeOf(input);
            }
        }
        return bytes;
    }

    /** As if all elements had 8 bytes and all rows the length of the first. */
    private static long sizeOf(Object array) {
        int length = Array.getLength(array);
        Object first = array instanceof Object[] rows && length > 0 ? rows[0] : null;
        return first != null && first.getClass().isArray() ? length * sizeOf(first) : 8L * length;
    }

    @Override
    public CompletableFuture<Results> call(CallOptions options, @Nullable Object... inputs) {
        return call(options, UnaryOperator.identity(), inputs);
    }

    /**
     * Like {@link #call(CallOptions, Object...)}.
     *
     * @param cut makes what the caller gets of what the function returned, which it takes over; where anything may be done
     */
    CompletableFuture<Results> call(CallOptions options, UnaryOperator<Results> cut, @Nullable Object[] inputs) {
        program().enter();
        ArgumentList arguments = null;
        Call call = null;
        try {
            arguments = new ArgumentList(signature, program().memory(), holder(), inputs);
            call = new Call(fullName(), arguments);
            return Submission.start(program(), this, call, options, cut);
        } catch (RuntimeException | Error e) {
            if (call != null) {
                program().untrack(call);
            }
            if (arguments != null) {
                arguments.close();
            }
            program().exit();
            throw e;
        }
    }

    Signature signature() {
        return signature;
    }

    /** For the processes that make its calls. */
    ProcessOptions processOptions() {
        return processOptions;
    }

    /** Only in the program's turn. */
    Invocation takeInvocation(Context context) {
        Invocation used = idle.poll();
        return used != null ? used : context.invocation(signature.function());
    }

    /** Resets and keeps it, unless enough are kept. Only in the program's turn. */
    void giveBack(Invocation used) {
        if (idle.size() < KEPT) {
            used.reset();
            idle.push(used);
        } else {
            used.close();
        }
    }

    /** Only when no call can run any more. */
    void free() {
        idle.forEach(Invocation::close);
        idle.clear();
    }
}
