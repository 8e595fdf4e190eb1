package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.FunctionVariant;
import io.github.iree4j.FunctionVariants;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ShapeRules;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The signature of a function for encoding texts.
 *
 * @param inputs the meaning of each argument
 * @param types the element type of each argument
 * @param rows number of texts; 0 for any number
 * @param length number of tokens of each text; 0 for any number
 * @param result declared shape of the used result, a negative size for any; null when not declared
 * @param shapes the possible shapes of calls, at least one: with variants, the shapes of the variants
 */
record EncoderSignature(
        List<TokenInput> inputs,
        List<ElementType> types,
        int rows,
        int length,
        @Nullable List<Long> result,
        List<CallShape> shapes) {

    private static final Set<ElementType> INTEGERS = Set.of(ElementType.I64, ElementType.I32);
    private static final Set<ElementType> FLOATS =
            Set.of(ElementType.F32, ElementType.F16, ElementType.BF16, ElementType.F64);

    /** Maximum number of tokens of a padded argument: 1 GB. */
    private static final int LARGEST = 1 << 27;

    /** Whether padding can be distinguished from tokens. */
    boolean masks() {
        return inputs.contains(TokenInput.ATTENTION_MASK);
    }

    /**
     * Reads the declaration of a function.
     *
     * @throws IreeException FAILED_PRECONDITION when the function cannot encode texts, or the declaration is
     *     insufficient
     */
    static EncoderSignature of(ProgramFunction function, EncoderSettings settings, EncoderTask task) {
        List<ValueDeclaration> arguments = function.arguments();
        List<TokenInput> inputs = inputs(function, settings, task);
        List<ElementType> types = new ArrayList<>();
        int rows = 0;
        int length = 0;
        boolean first = true;
        for (int i = 0; i < arguments.size(); i++) {
            ValueDeclaration argument = arguments.get(i);
            if (isUndeclared(argument)) {
                types.add(settings.tokenType().elementType());
                continue;
            }
            List<Long> shape = argument.shape().orElse(List.of());
            ElementType type = argument.elementType().orElse(ElementType.NONE);
            if (!argument.isTensor() || shape.size() != 2 || !INTEGERS.contains(type)) {
                throw task.cannot(
                        function,
                        "argument %d is %s, expected a tensor of texts by tokens, such as tensor<?x?xi64>"
                                .formatted(i, argument.type()));
            }
            rows = agreed(task, function, i, "texts", first ? size(shape.get(0)) : rows, shape.get(0));
            length = agreed(task, function, i, "tokens", first ? size(shape.get(1)) : length, shape.get(1));
            first = false;
            types.add(type);
        }
        if (Math.max(1L, rows) * Math.max(1, length) > LARGEST) {
            throw task.cannot(
                    function, "an argument has %dx%d tokens, but the limit is %d".formatted(rows, length, LARGEST));
        }
        List<CallShape> shapes = shapes(function, rows, length, settings, task);
        int longest = longest(shapes);
        if (settings.maxTokens() != null && longest > 0 && settings.maxTokens() > longest) {
            throw task.cannot(
                    function,
                    "it takes %d tokens of a text, but %s is %d"
                            .formatted(longest, task.property("max-tokens"), settings.maxTokens()));
        }
        return new EncoderSignature(
                List.copyOf(inputs), List.copyOf(types), rows, length, result(function, settings, task), shapes);
    }

    /** The maximum number of tokens of a text; 0 for any number. */
    int maxLength() {
        return longest(shapes);
    }

    private static int longest(List<CallShape> shapes) {
        return shapes.stream().anyMatch(shape -> shape.length() == 0)
                ? 0
                : shapes.stream().mapToInt(CallShape::length).max().orElseThrow();
    }

    private static List<CallShape> shapes(
            ProgramFunction function, int rows, int length, EncoderSettings settings, EncoderTask task) {
        FunctionVariants variants = function.variants().orElse(null);
        if (variants == null) {
            return List.of(new CallShape(rows, length, 1));
        }
        if (!settings.padTo().isEmpty()) {
            throw task.cannot(
                    function,
                    "it has variants, to whose shapes texts are padded; remove %s".formatted(task.property("pad-to")));
        }
        List<List<String>> dimensions = variants.rules().inputs().stream()
                .map(ShapeRules.Value::dimensions)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
        if (dimensions.size() != 1 || new HashSet<>(dimensions.getFirst()).size() != 2) {
            throw task.cannot(
                    function,
                    "the shape rules %s differ between arguments; they must be like '[batch length], [batch length] mask'"
                            .formatted(variants.rules()));
        }
        List<CallShape> shapes = new ArrayList<>();
        for (FunctionVariant variant : variants.all()) {
            Map<String, Long> sizes = variant.sizes();
            if (!sizes.containsValue(0L)) { // otherwise no text fits
                shapes.add(new CallShape(
                        size(sizes.getOrDefault(dimensions.getFirst().getFirst(), (long) rows)),
                        size(sizes.getOrDefault(dimensions.getFirst().getLast(), (long) length)),
                        sizes.containsValue(-1L) ? variants.dynamicCost() : 1));
            }
        }
        if (shapes.isEmpty()) {
            throw task.cannot(function, "its variants have no room for texts");
        }
        return List.copyOf(shapes);
    }

    private static List<TokenInput> inputs(ProgramFunction function, EncoderSettings settings, EncoderTask task) {
        List<ValueDeclaration> arguments = function.arguments();
        if (!settings.inputs().isEmpty()) {
            if (settings.inputs().size() != arguments.size()) {
                throw task.cannot(
                        function,
                        "it has %d arguments, but %s names %d"
                                .formatted(
                                        arguments.size(),
                                        task.property("inputs"),
                                        settings.inputs().size()));
            }
            return settings.inputs();
        }
        List<TokenInput> named = new ArrayList<>();
        for (ValueDeclaration argument : arguments) {
            TokenInput input = TokenInput.named(argument.name());
            if (input != null && !named.contains(input)) {
                named.add(input);
            }
        }
        if (named.size() == arguments.size() && named.contains(TokenInput.INPUT_IDS)) {
            return named;
        }
        // Beyond two arguments, the order differs between models, and a wrong order silently gives wrong embeddings.
        return switch (arguments.size()) {
            case 1 -> List.of(TokenInput.INPUT_IDS);
            case 2 -> List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK);
            default ->
                throw task.cannot(
                        function,
                        "it has %d arguments; name their meanings, in order, in %s, such as 'input-ids, attention-mask, token-type-ids'"
                                .formatted(arguments.size(), task.property("inputs")));
        };
    }

    private static int agreed(
            EncoderTask task, ProgramFunction function, int argument, String what, int before, long declared) {
        int size = size(declared);
        if (size != before) {
            throw task.cannot(function, "its arguments differ in their number of %s".formatted(what));
        }
        if (declared == 0) {
            throw task.cannot(function, "argument %d has no room for %s".formatted(argument, what));
        }
        return size;
    }

    /** Returns a declared size; 0 for any. */
    private static int size(long declared) {
        return Math.clamp(declared, 0, Integer.MAX_VALUE);
    }

    private static @Nullable List<Long> result(ProgramFunction function, EncoderSettings settings, EncoderTask task) {
        List<ValueDeclaration> results = function.results();
        if (settings.result() >= results.size()) {
            throw task.cannot(
                    function,
                    "it has %d results, but %s is %d"
                            .formatted(results.size(), task.property("result"), settings.result()));
        }
        ValueDeclaration result = results.get(settings.result());
        if (isUndeclared(result)) {
            return null; // checked when the result is available
        }
        if (!result.isTensor() || result.elementType().filter(FLOATS::contains).isEmpty()) {
            throw task.cannot(
                    function,
                    "result %d is %s, expected a tensor of floats; %s selects the result"
                            .formatted(settings.result(), result.type(), task.property("result")));
        }
        return result.shape().orElseThrow();
    }

    /** Programs imported from PyTorch or ONNX declare no types, and the type of an unused argument is not proven. */
    private static boolean isUndeclared(ValueDeclaration value) {
        return value.elementType().isEmpty() && value.type().equals("!vm.ref<?>");
    }
}
