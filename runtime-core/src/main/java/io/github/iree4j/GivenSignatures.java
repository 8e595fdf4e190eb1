package io.github.iree4j;

import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.call.AbiDeclaration.Value;
import io.github.iree4j.call.Signature;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorText;
import io.github.iree4j.tensor.TensorType;
import io.github.iree4j.vm.VmFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The signatures given by options for functions: names of values, and types neither declared nor proven by the module.
 * A given signature must not contradict the known signature.
 */
final class GivenSignatures {
    private final Map<VmFunction, Signature> known;

    private GivenSignatures(Map<VmFunction, Signature> known) {
        this.known = known;
    }

    /**
     * Adds the signatures in options to the known signatures of functions.
     *
     * @param given texts such as {@code (%image: tensor<?x3x224x224xf32>) -> (%probabilities: tensor<?x10xf32>)}, by the function's name
     * @throws IreeException when there is no such function, or a text cannot be the function's signature
     */
    static Map<VmFunction, Signature> applied(Map<String, String> given, Map<VmFunction, Signature> known) {
        GivenSignatures all = new GivenSignatures(known);
        given.forEach(all::apply);
        return known;
    }

    private void apply(String name, String text) {
        List<VmFunction> functions =
                known.keySet().stream().filter(each -> isCalled(each, name)).toList();
        if (functions.isEmpty()) {
            throw fault(
                    name,
                    "there is no such function; there are "
                            + known.keySet().stream()
                                    .map(VmFunction::name)
                                    .filter(each -> !each.startsWith("__"))
                                    .sorted()
                                    .collect(Collectors.joining(", ")));
        }
        AbiDeclaration declared = AbiDeclaration.parse(text.startsWith("(") ? "@" + text : text);
        if (declared == null) {
            throw fault(
                    name,
                    "'%s' is not understood; write it as in (%%image: tensor<?x64xf32>) -> (%%scores: tensor<?x10xf32>)"
                            .formatted(TensorText.abbreviate(text)));
        }
        for (VmFunction function : functions) {
            Signature signature = signature(function);
            AbiDeclaration sum = new AbiDeclaration(
                    values(name, "argument", "input", signature.arguments(), declared.arguments(), signature::declared),
                    values(
                            name,
                            "result",
                            "output",
                            signature.results(),
                            declared.results(),
                            signature::declaredResult));
            known.put(function, signature.with(() -> sum));
        }
    }

    private Signature signature(VmFunction function) {
        Signature signature = known.get(function);
        return signature == null ? new Signature(function) : signature;
    }

    /** Whether a name denotes a function: the function's name, or the name without the suffix of functions with fences. */
    private static boolean isCalled(VmFunction function, String name) {
        return function.name().equals(name)
                || function.fullName().equals(name)
                || function.name().equals(name + Signature.WITH_FENCES);
    }

    private static List<Value> values(
            String function,
            String what,
            String otherwise,
            String kinds,
            List<Value> given,
            IntFunction<@Nullable Value> known) {
        if (given.size() != kinds.length()) {
            throw fault(function, "it has %d %ss, and the function %d".formatted(given.size(), what, kinds.length()));
        }
        List<Value> values = new ArrayList<>();
        for (int i = 0; i < kinds.length(); i++) {
            Value before = known.apply(i);
            if (before == null) {
                before = new Value(otherwise + i, RecoveredDeclarations.typeOf(kinds.charAt(i)), null);
            }
            Value value = value(given.get(i), before, kinds.charAt(i) == 'r');
            if (value == null) {
                throw fault(
                        function,
                        "%s %d is given as %s, and by the module it is %s"
                                .formatted(
                                        what,
                                        i,
                                        TensorText.abbreviate(given.get(i).type()),
                                        before.type()));
            }
            values.add(value);
        }
        return values;
    }

    /** Merges the given and the known declaration of a value; null if the declarations contradict each other, or the given type is no type. */
    private static @Nullable Value value(Value given, Value known, boolean reference) {
        String name = given.name().isEmpty() ? known.name() : given.name();
        TensorType tensor = given.tensor();
        if (tensor != null && reference) {
            TensorType sum = known.tensor() == null ? tensor : tensor.and(known.tensor());
            boolean fits = known.tensor() != null
                    || known.type().equals(Value.UNKNOWN)
                    || known.type().equals("!hal.buffer_view")
                    || known.type().startsWith("tensor<");
            return sum == null || !fits ? null : new Value(name, sum.toString(), sum);
        }
        boolean saysNothing = given.type().isEmpty() || given.type().equals(Value.UNKNOWN) && reference;
        if (saysNothing || given.type().equals(known.type())) {
            return new Value(name, known.type(), known.tensor());
        }
        boolean isReference = given.type().startsWith("!");
        return reference && isReference && known.type().equals(Value.UNKNOWN)
                ? new Value(name, given.type(), null)
                : null;
    }

    private static IreeException fault(String function, String what) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "the signature given for function '%s' cannot be used: %s"
                        .formatted(TensorText.abbreviate(function), what),
                null,
                new SignatureFault(function));
    }
}
