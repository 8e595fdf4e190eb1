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
 * The types of the values of functions that their module does not declare, such as those imported from ONNX and PyTorch: recovered from the
 * checks of arguments and the creation of results in their code. A type says no more than the code proves: a dimension is open unless it is
 * always the same, and a value of which nothing is known has no type. Values are named as the compiler names those that have no name.
 */
final class RecoveredDeclarations {
    private static final Set<String> VIEWS = Set.of("hal.buffer_view", "hal_inline.buffer_view");
    private static final Set<String> CHECKING = Set.of("hal", "hal_inline");

    private final BytecodeModule module;
    private final BitSet functions;
    private @Nullable Map<Integer, ProvenShapes> proven; // once asked for

    /** For certain functions of a module. */
    RecoveredDeclarations(BytecodeModule module, BitSet functions) {
        this.module = module;
        this.functions = functions;
    }

    /**
     * The signatures of what modules export; the code is looked at when the declaration of a function is asked for that has none.
     *
     * @param modules those of the program, without the runtime's
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

    /** What the code of a function proves; null for nothing. */
    private @Nullable AbiDeclaration known(Signature signature) {
        AbiDeclaration known = declaration(signature);
        return Stream.concat(known.arguments().stream(), known.results().stream())
                        .anyMatch(each -> each.tensor() != null)
                ? known
                : null;
    }

    /** What the code of one of the functions proves, with a value for each of its arguments and results. */
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

    /** All that a letter of a calling convention says of a value. */
    static String typeOf(char kind) {
        return switch (kind) {
            case 'i' -> "i32";
            case 'I' -> "i64";
            case 'f' -> "f32";
            case 'F' -> "f64";
            default -> AbiDeclaration.Value.UNKNOWN;
        };
    }

    /** Its type; null if there is no such type. */
    private static @Nullable TensorType tensor(@Nullable ProvenShape shape) {
        if (shape == null) {
            return null;
        }
        ElementType type = new ElementType(shape.elementType());
        long[] dimensions =
                shape.dimensions().stream().mapToLong(Long::longValue).toArray();
        try {
            Shape.elementCount(shape.dimensions().stream()
                    .mapToLong(Long::longValue)
                    .filter(size -> size >= 0)
                    .toArray());
            return ElementType.parse(type.toString()).equals(type) && type.bitCount() > 0
                    ? new TensorType(type, dimensions)
                    : null;
        } catch (IreeException e) {
            return null;
        }
    }
}
