package io.github.iree4j;

import io.github.iree4j.ShapeRules.Value;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.call.CallTerms;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.JavaArrays;
import io.github.iree4j.tensor.TensorType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A function with several compiled variants, see {@link FunctionVariants}. */
final class VariantFunction extends ProgramFunction {
    private final String name;
    private final String fullName;
    private final CompiledFunction like;
    private final List<ValueDeclaration> arguments;
    private final List<ValueDeclaration> results;
    /** Types of arguments with axes, with open sizes; null for others. */
    private final List<@Nullable TensorType> types;

    private final ShapeRules rules;
    private final FunctionVariants variants;

    /** Creates the function from the results of the binder. */
    VariantFunction(Program program, VariantBinder found) {
        super(program);
        this.name = found.name();
        this.like = found.like();
        this.fullName = program.describe() + "." + name;
        this.rules = found.rules();
        this.types = found.types();
        this.arguments = found.declarations(true);
        this.results = found.declarations(false);
        this.variants = new FunctionVariants(this, found);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String fullName() {
        return fullName;
    }

    @Override
    String key() {
        return program().name() + "." + name;
    }

    @Override
    public String declaration() {
        return "func @%s(%s) -> (%s), one of %d by shape"
                .formatted(name, text(arguments), text(results), variants.all().size());
    }

    private static String text(List<ValueDeclaration> values) {
        return values.stream()
                .map(value -> value.name().isEmpty() ? value.type() : "%" + value.name() + ": " + value.type())
                .collect(Collectors.joining(", "));
    }

    @Override
    public Map<String, String> attributes() {
        return like.attributes();
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
    public List<ValueKind> argumentKinds() {
        return like.argumentKinds();
    }

    @Override
    public List<ValueKind> resultKinds() {
        return like.resultKinds();
    }

    @Override
    public boolean isAsynchronous() {
        return variants.all().stream().allMatch(each -> each.function().isAsynchronous());
    }

    @Override
    public Optional<FunctionVariants> variants() {
        return Optional.of(variants);
    }

    FunctionVariants all() {
        return variants;
    }

    @Override
    public Tensor tensor(int index, Object value) {
        try {
            return new Tensor(JavaArrays.toElements(value, types.get(index)));
        } catch (IreeException e) {
            throw IreeException.of(e.code(), where(index) + ": " + e.getMessage(), e);
        }
    }

    @Override
    Results invokeHere(@Nullable Object[] inputs) {
        VariantInputs given = new VariantInputs(this, inputs);
        FunctionVariant variant = variants.choose(given, false);
        long[] padded = variant.padded(given.sizes());
        @Nullable Object[] passed = given.padded(padded);
        Results returned = variant.compiled().invokeHere(passed);
        variants.called(variant, given, padded);
        return cut(returned, given.sizes(), padded);
    }

    @Override
    IreeFuture<Results> callHere(CallTerms terms, @Nullable Object[] inputs) {
        VariantInputs given = new VariantInputs(this, inputs);
        FunctionVariant variant = variants.choose(given, terms.after() != null || terms.signal() != null);
        long[] padded = variant.padded(given.sizes());
        IreeFuture<Results> call = variant.compiled()
                .callHere(terms, returned -> cut(returned, given.sizes(), padded), given.padded(padded));
        variants.called(variant, given, padded);
        return call;
    }

    ShapeRules rules() {
        return rules;
    }

    /** The type of an argument with axes; null where unknown. */
    @Nullable
    TensorType type(int index) {
        return types.get(index);
    }

    /** Names an argument in messages. */
    String where(int index) {
        String argument = arguments.get(index).name();
        return "argument %d%s of function '%s'"
                .formatted(index, argument.isEmpty() ? "" : " '" + argument + "'", fullName);
    }

    /** Cuts results to smaller sizes, and closes the originals. */
    Results cut(Results returned, long[] sizes, long[] padded) {
        if (Arrays.equals(sizes, padded)) {
            return returned;
        }
        @Nullable Object[] values = new Object[returned.size()];
        try (returned) {
            for (int i = 0; i < values.length; i++) {
                List<String> dimensions = rules.results().get(i).dimensions();
                values[i] = dimensions == null || returned.get(i) == null
                        ? returned.takeAny(i)
                        : cut(i, dimensions, returned, sizes, padded);
            }
        } catch (RuntimeException | Error e) {
            Results.free(values);
            throw e;
        }
        return new Results(this, values);
    }

    private Tensor cut(int index, List<String> dimensions, Results returned, long[] sizes, long[] padded) {
        Tensor tensor = returned.tensor(index);
        long[] shape = tensor.shape().dimensions();
        long[] part = shape.clone();
        boolean fits = shape.length == dimensions.size() && tensor.elementType().isByteAligned();
        for (int d = 0; fits && d < shape.length; d++) {
            int axis = rules.axes().indexOf(dimensions.get(d));
            if (axis >= 0) {
                fits = shape[d] == padded[axis];
                part[d] = sizes[axis];
            }
        }
        if (!fits) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "result %d of '%s' is %s, and by its shape rules %s of %s %s; correct the rules"
                            .formatted(
                                    index,
                                    fullName,
                                    tensor.elements().header(),
                                    new Value(dimensions, 0, false, null),
                                    String.join(" x ", rules.axes()),
                                    Arrays.toString(padded)));
        }
        return Arrays.equals(shape, part) ? returned.take(index) : tensor.corner(Shape.of(part));
    }
}
