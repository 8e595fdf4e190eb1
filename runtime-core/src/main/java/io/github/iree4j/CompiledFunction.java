package io.github.iree4j;

import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.call.CallTerms;
import io.github.iree4j.call.FunctionCalls;
import io.github.iree4j.call.ProgramCalls;
import io.github.iree4j.call.Signature;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.tensor.JavaArrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A function exported by a module. */
final class CompiledFunction extends ProgramFunction {
    private final FunctionCalls calls;
    private final Signature signature;
    private final Function<@Nullable Object[], Results> returned = this::returned;
    private final List<ValueKind> argumentKinds;
    private final List<ValueKind> resultKinds;
    private volatile @Nullable Values values; // null before the first use

    private record Values(List<ValueDeclaration> arguments, List<ValueDeclaration> results) {}

    CompiledFunction(Program program, ProgramCalls calls, Signature signature, boolean waitsOnHost) {
        super(program);
        this.signature = signature;
        this.argumentKinds = ValueKind.of(signature.arguments());
        this.resultKinds = ValueKind.of(signature.results());
        this.calls = new FunctionCalls(calls, signature, waitsOnHost);
    }

    @Override
    public String name() {
        return signature.function().name();
    }

    @Override
    public String fullName() {
        return calls.fullName();
    }

    @Override
    String key() {
        return signature.function().fullName();
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
        return values().arguments();
    }

    @Override
    public List<ValueDeclaration> results() {
        return values().results();
    }

    private Values values() {
        Values known = values;
        if (known == null) {
            known = new Values(ValueDeclaration.arguments(signature), ValueDeclaration.results(signature));
            values = known;
        }
        return known;
    }

    @Override
    public List<ValueKind> argumentKinds() {
        return argumentKinds;
    }

    @Override
    public List<ValueKind> resultKinds() {
        return resultKinds;
    }

    @Override
    public boolean isAsynchronous() {
        return signature.isAsynchronous();
    }

    @Override
    public Optional<FunctionVariants> variants() {
        return Optional.empty();
    }

    @Override
    public Tensor tensor(int index, Object value) {
        AbiDeclaration.Value declared = signature.declared(index);
        try {
            return new Tensor(JavaArrays.toElements(value, declared == null ? null : declared.tensor()));
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "%s: %s".formatted(signature.describeArgument(index), e.getMessage()), e);
        }
    }

    @Override
    Results invokeHere(@Nullable Object[] inputs) {
        return calls.invoke(Tensor.inputs(inputs), returned);
    }

    @Override
    IreeFuture<Results> callHere(CallTerms terms, @Nullable Object[] inputs) {
        return callHere(terms, UnaryOperator.identity(), inputs);
    }

    /**
     * Like {@link #callHere(CallTerms, Object[])}.
     *
     * @param cut owns the function's results, and converts the results for the caller; on a thread where arbitrary code
     *     may run
     */
    IreeFuture<Results> callHere(CallTerms terms, UnaryOperator<Results> cut, @Nullable Object[] inputs) {
        return startWithin(
                terms.deadline(),
                terms.signal(),
                () -> calls.submit(
                        terms, Tensor.inputs(inputs), values -> cut.apply(returned(values)), Results::close));
    }

    private Results returned(@Nullable Object[] values) {
        return Results.of(this, values, program().leaks());
    }

    /** Frees the function's resources; only when no call can run any more. */
    void free() {
        calls.free();
    }
}
