package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.tensor.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * An argument or a result of a function, as declared by the module ({@code iree.abi.declaration}); otherwise as far as
 * proven by the code, or by kind only.
 *
 * @param name for example {@code input0}; empty when unnamed
 * @param type the type's text: {@code tensor<4x?xf32>}, {@code i32}, {@code !hal.buffer}, or {@code !vm.ref<?>} for an
 *     unknown reference
 * @param elementType the type of a tensor's elements, or of the primitive; none for other references and tensors not
 *     understood
 * @param shape a tensor's dimensions, -1 for each dimension chosen by the caller; an empty list for scalars and
 *     primitives, none where {@code elementType} is none
 */
public record ValueDeclaration(
        String name, String type, Optional<ElementType> elementType, Optional<List<Long>> shape) {
    static final String INPUT = "input";
    static final String OUTPUT = "output";

    /** Copies the shape. */
    public ValueDeclaration {
        shape = shape.map(List::copyOf);
    }

    static ValueDeclaration known(String name, String type, ElementType elementType, List<Long> shape) {
        return new ValueDeclaration(name, type, Optional.of(elementType), Optional.of(shape));
    }

    /**
     * Returns whether the value is a tensor of known type.
     *
     * @return false for primitives and for references of other or unknown types
     */
    public boolean isTensor() {
        return elementType.isPresent() && type.startsWith("tensor<");
    }

    /**
     * Returns whether a tensor has this type. Integers count by width only, as in the checks of inputs.
     *
     * @param tensor the tensor
     * @return true also where the type is unknown; false for primitives
     */
    public boolean accepts(Tensor tensor) {
        if (elementType.isEmpty() || shape.isEmpty()) {
            return true;
        }
        long[] dimensions = shape.get().stream().mapToLong(Long::longValue).toArray();
        return isTensor()
                && new TensorType(elementType.get(), dimensions).accepts(tensor.elementType(), tensor.shape());
    }

    /**
     * Returns the names of arguments or results, as callers give the names: compilers may omit names.
     *
     * @param values all arguments or all results of a function
     * @param unnamed prefix of the name of a value without a name, followed by the index
     * @return as many names as values
     */
    @NotForApplications
    public static List<String> names(List<ValueDeclaration> values, String unnamed) {
        return IntStream.range(0, values.size())
                .mapToObj(i -> name(values, i, unnamed))
                .toList();
    }

    /**
     * Returns the name of an argument or a result, as in {@link #names}.
     *
     * @param values all arguments or all results of a function
     * @param index the index of the value
     * @param unnamed prefix of the name of a value without a name
     * @return the name
     */
    @NotForApplications
    public static String name(List<ValueDeclaration> values, int index, String unnamed) {
        String name = values.get(index).name();
        return name.isEmpty() ? unnamed + index : name;
    }

    /** The arguments passed by callers of a function. */
    static List<ValueDeclaration> arguments(Signature signature) {
        return of(signature.arguments(), signature::declared);
    }

    /** The results of a function. */
    static List<ValueDeclaration> results(Signature signature) {
        return of(signature.results(), signature::declaredResult);
    }

    private static List<ValueDeclaration> of(String kinds, IntFunction<AbiDeclaration.@Nullable Value> declared) {
        return IntStream.range(0, kinds.length())
                .mapToObj(i -> of(declared.apply(i), kinds.charAt(i)))
                .toList();
    }

    private static ValueDeclaration of(AbiDeclaration.@Nullable Value declared, char kind) {
        TensorType tensor = declared == null ? null : declared.tensor();
        String name = declared == null ? "" : declared.name();
        if (declared != null && tensor != null && kind == 'r') {
            List<Long> shape = LongStream.of(tensor.shape()).boxed().toList();
            return known(name, declared.type(), tensor.type(), shape);
        }
        return switch (kind) {
            case 'i' -> known(name, "i32", ElementType.I32, List.of());
            case 'I' -> known(name, "i64", ElementType.I64, List.of());
            case 'f' -> known(name, "f32", ElementType.F32, List.of());
            case 'F' -> known(name, "f64", ElementType.F64, List.of());
            default ->
                new ValueDeclaration(
                        name,
                        declared == null ? AbiDeclaration.Value.UNKNOWN : declared.type(),
                        Optional.empty(),
                        Optional.empty());
        };
    }
}
