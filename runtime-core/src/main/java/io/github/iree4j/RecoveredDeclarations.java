package io.github.iree4j;

import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.tensor.TensorType;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ProvenShape;
import io.github.iree4j.vm.bytecode.ProvenShapes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The types of values of functions not declared by their module, such as functions imported from ONNX and PyTorch:
 * recovered from the checks of arguments and the creation of results in the code. A type contains only proven facts: a
 * dimension is open unless always the same, and a value about which nothing is known has no type. Values get the names
 * that the compiler gives to unnamed values.
 */
final class RecoveredDeclarations {
    private static final Set<String> VIEWS = Set.of("hal.buffer_view", "hal_inline.buffer_view");
    private static final Set<String> CHECKING = Set.of("hal", "hal_inline");

    private final BytecodeModule module;
    private final BitSet functions;
    private @Nullable Map<Integer, ProvenShapes> proven; // null before the first use

    /** Recovers the declarations of certain functions of a module. */
    RecoveredDeclarations(BytecodeModule module, BitSet functions) {
        this.module = module;
        this.functions = functions;
    }

    /**
     * The signatures of exported functions. The code of a function without declaration is examined when the declaration
     * is first requested.
     *
     * @param modules the modules of the program, without the runtime's
     */
    static Map<VmFunction, Signature> signatures(List<VmModule> modules) {
        boolean checksAreKnown = modules.stream().noneMatch(each -> CHECKING.contains(each.name()));
        Map<VmFunction, Signature> signatures = new HashMap<>();
        for (VmModule module : modules) {
            BitSet undeclared = new BitSet();
            RecoveredDeclarations recovered = checksAreKnown && module instanceof BytecodeModule compiled
                    ? new RecoveredDeclarations(compiled, undeclared)
                    : null;
            for (VmFunction function : module.exports()) {
                Signature signature = new Signature(function);
                if (recovered != null && signature.declaration() == null && hasReferences(signature)) {
                    undeclared.set(function.ordinal());
                    signature = signature.with(() -> recovered.known(new Signature(function)));
                }
                signatures.put(function, signature);
            }
        }
        return signatures;
    }

    private static boolean hasReferences(Signature signature) {
        return (signature.arguments() + signature.results()).indexOf('r') >= 0;
    }

    /** The declaration proven by a function's code; null if nothing is proven. */
    private @Nullable AbiDeclaration known(Signature signature) {
        AbiDeclaration known = declaration(signature);
        return Stream.concat(known.arguments().stream(), known.results().stream())
                        .anyMatch(each -> each.tensor() != null)
                ? known
                : null;
    }

    /** The declaration proven by a function's code, with a value for each argument and result. */
    synchronized AbiDeclaration declaration(Signature signature) {
        if (proven == null) {
            proven = module.provenShapes(functions, VIEWS);
        }
        return declaration(
                signature,
                Objects.requireNonNull(proven.get(signature.function().ordinal())));
    }

    private static AbiDeclaration declaration(Signature signature, ProvenShapes shapes) {
        return new AbiDeclaration(
                values("input", signature.arguments(), shapes::argument),
                values("output", signature.results(), shapes::result));
    }

    private static List<AbiDeclaration.Value> values(
            String name, String kinds, IntFunction<@Nullable ProvenShape> shapes) {
        List<AbiDeclaration.Value> values = new ArrayList<>();
        for (int i = 0; i < kinds.length(); i++) {
            TensorType tensor = kinds.charAt(i) == 'r' ? tensor(shapes.apply(i)) : null;
            String type = tensor == null ? typeOf(kinds.charAt(i)) : tensor.toString();
            values.add(new AbiDeclaration.Value(name + i, type, tensor));
        }
        return values;
    }

    /** The type of a value as far as given by a letter of a calling convention. */
    static String typeOf(char kind) {
        return switch (kind) {
            case 'i' -> "i32";
            case 'I' -> "i64";
            case 'f' -> "f32";
            case 'F' -> "f64";
            default -> AbiDeclaration.Value.UNKNOWN;
        };
    }

    /** The tensor type of a shape; null if there is no such type. */
    private static @Nullable TensorType tensor(@Nullable ProvenShape shape) {
        if (shape == null) {
            return null;
        }
        ElementType type = new ElementType(shape.elementType());
        long[] dimensions =
                shape.dimensions().stream().mapToLong(Long::longValue).toArray();
        try {
            Shape.of(Arrays.stream(dimensions).filter(size -> size >= 0).toArray()); // checks the sizes
            return ElementType.parse(type.toString()).equals(type) && type.bitCount() > 0
                    ? new TensorType(type, dimensions)
                    : null;
        } catch (IreeException e) {
            return null;
        }
    }
}
