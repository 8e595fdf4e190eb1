package io.github.iree4j;

import io.github.iree4j.ShapeRules.Value;
import io.github.iree4j.call.Signature;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.Fills;
import io.github.iree4j.tensor.TensorText;
import io.github.iree4j.tensor.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the variants of a function, and checks the variants against each other and against the rules. Names, shapes and
 * rules may come from an untrusted module: mismatches are refused when the program is loaded. Used once.
 */
final class VariantBinder {
    private static final int MOST = 1024;

    /** Token of a pattern: any characters, an axis, or literal text. */
    private static final Pattern WORD = Pattern.compile("\\*|\\{[^{}*]*\\}|[^*{]+|\\{");

    private final VariantOptions options;
    private final List<CompiledFunction> known;
    private final String consumer;
    private final @Nullable VariantListener listener;
    private final ShapeRules rules;
    /** Declared sizes of functions, where known. */
    private final Map<CompiledFunction, Map<String, Long>> said = new HashMap<>();

    private final List<CompiledFunction> functions = new ArrayList<>();
    private final List<FunctionVariant> variants = new ArrayList<>();
    private @Nullable String unlike; // why the last function matching only by name is no variant

    /**
     * A further module.
     *
     * @param functions the module's functions
     * @param sizes the compiled sizes of these functions, by axis, where known
     */
    record Further(List<CompiledFunction> functions, Map<String, Long> sizes) {}

    /**
     * Finds and checks the variants.
     *
     * @param own functions of the program
     * @param parts functions of each further module
     */
    VariantBinder(
            VariantOptions options,
            List<CompiledFunction> own,
            List<Further> parts,
            String consumer,
            @Nullable VariantListener listener) {
        this.options = options;
        this.consumer = consumer;
        this.listener = listener;
        this.known = new ArrayList<>(own);
        parts.forEach(part -> known.addAll(part.functions()));
        this.rules = rulesOf(options);
        for (Further part : parts) {
            checkAxes(part.sizes());
            part.functions().forEach(function -> said.put(function, part.sizes()));
        }
        own.stream()
                .filter(function -> function.name().equals(options.function()))
                .forEach(function -> said.put(function, Map.of())); // without declared sizes: for any shape
        if (options.functions().isEmpty()) {
            own.stream().filter(this::isCalledSo).filter(this::agrees).forEach(this::add);
            for (Further part : parts) {
                List<CompiledFunction> called =
                        part.functions().stream().filter(this::isCalledSo).toList();
                List<CompiledFunction> only = part.functions().stream()
                        .filter(function -> !function.name().endsWith(Signature.WITH_FENCES))
                        .toList();
                if (called.isEmpty() && only.size() != 1) {
                    throw fault("a further module has no function with this name; it has %s"
                            .formatted(names(part.functions())));
                }
                (called.isEmpty() ? only : called).forEach(this::add);
            }
        } else {
            options.functions().forEach(this::addThoseOf);
        }
        if (functions.isEmpty()) {
            throw fault("no function with this name fits the rules %s; there are %s%s"
                    .formatted(rules, names(known), unlike == null ? "" : "; " + unlike));
        }
    }

    // Results.

    String name() {
        return options.function();
    }

    ShapeRules rules() {
        return rules;
    }

    List<FunctionVariant> variants() {
        return List.copyOf(variants);
    }

    double dynamicCost() {
        return options.dynamicCost();
    }

    String consumer() {
        return consumer;
    }

    @Nullable
    VariantListener listener() {
        return listener;
    }

    /** The representative: the kinds and names apply to all variants. */
    CompiledFunction like() {
        return functions.getFirst();
    }

    /** Types of arguments with axes, where axes are open. */
    List<@Nullable TensorType> types() {
        List<@Nullable TensorType> types = new ArrayList<>();
        for (int i = 0; i < rules.inputs().size(); i++) {
            Value rule = rules.inputs().get(i);
            types.add(type(rule, i, true));
        }
        return types;
    }

    /** Arguments or results, with axes open. */
    List<ValueDeclaration> declarations(boolean arguments) {
        List<Value> of = arguments ? rules.inputs() : rules.results();
        List<ValueDeclaration> given = arguments ? like().arguments() : like().results();
        List<ValueDeclaration> open = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            ValueDeclaration value = given.get(i);
            TensorType type = type(of.get(i), i, arguments);
            if (type != null) {
                List<Long> shape = Arrays.stream(type.shape()).boxed().toList();
                value = ValueDeclaration.known(value.name(), type.toString(), type.type(), shape);
            }
            open.add(value);
        }
        return open;
    }

    /** The type with axes open, and with every dimension open that a variant leaves open; null where the element type is unknown. */
    private @Nullable TensorType type(Value rule, int index, boolean argument) {
        List<String> dimensions = rule.dimensions();
        if (dimensions == null) {
            return null;
        }
        long[] shape = new long[dimensions.size()];
        for (int d = 0; d < shape.length; d++) {
            shape[d] = Character.isDigit(dimensions.get(d).charAt(0)) ? Long.parseLong(dimensions.get(d)) : 0;
        }
        ElementType type = rule.type();
        for (CompiledFunction each : functions) {
            ValueDeclaration value = (argument ? each.arguments() : each.results()).get(index);
            type = value.isTensor() && type == null ? elementType(value) : type;
            for (int d = 0; d < shape.length; d++) {
                long size = value.isTensor()
                        ? shape(value).get(d)
                        : dimensions.get(d).equals("_") ? -1 : shape[d];
                shape[d] = Value.isAxis(dimensions.get(d)) || size < 0 || shape[d] < 0 ? -1 : size;
            }
        }
        return type == null ? null : new TensorType(type, shape);
    }

    // Finding.

    private ShapeRules rulesOf(VariantOptions given) {
        if (given.rules() != null) {
            return given.rules();
        }
        for (CompiledFunction each : known) {
            String text = isCalledSo(each) ? each.attributes().get(FunctionVariants.ATTRIBUTE) : null;
            if (text != null) {
                try {
                    return ShapeRules.parse(text);
                } catch (IreeException e) {
                    throw fault(String.valueOf(e.getMessage()), e);
                }
            }
        }
        throw fault(
                "neither the options nor the module declare the rules for its shapes, such as '[batch length] -> [batch 384]'");
    }

    private boolean isCalledSo(CompiledFunction function) {
        String other = function.name();
        String name = options.function();
        return other.equals(name)
                || other.startsWith(name)
                        && "_-$.".indexOf(other.charAt(name.length())) >= 0
                        && !other.endsWith(Signature.WITH_FENCES);
    }

    private void checkAxes(Map<String, Long> sizes) {
        for (String axis : sizes.keySet()) {
            if (!rules.axes().contains(axis)) {
                throw fault("there is no axis '%s' in the rules %s".formatted(TensorText.abbreviate(axis), rules));
            }
        }
    }

    private void addThoseOf(String pattern) {
        List<String> named = new ArrayList<>();
        Matcher words = WORD.matcher(pattern);
        StringBuilder expression = new StringBuilder();
        while (words.find()) {
            String word = words.group();
            if (word.equals("*")) {
                expression.append(".*");
            } else if (word.startsWith("{") && word.length() > 1) {
                named.add(word.substring(1, word.length() - 1));
                expression.append("([0-9]{1,18})");
            } else {
                expression.append(Pattern.quote(word));
            }
        }
        Pattern compiled = Pattern.compile(expression.toString());
        boolean found = false;
        for (CompiledFunction each : known) {
            Matcher match = compiled.matcher(each.name());
            if (!match.matches()) {
                match = compiled.matcher(each.key());
            }
            if (match.matches()) {
                found = true;
                if (!functions.contains(each)) {
                    Map<String, Long> sizes = new HashMap<>();
                    for (int i = 0; i < named.size(); i++) {
                        sizes.put(named.get(i), Long.parseLong(match.group(i + 1)));
                    }
                    checkAxes(sizes);
                    if (!sizes.isEmpty()) {
                        said.put(each, sizes);
                    }
                    add(each);
                }
            }
        }
        if (!found) {
            throw fault(
                    "there is no function '%s'; there are %s".formatted(TensorText.abbreviate(pattern), names(known)));
        }
    }

    private static String names(List<CompiledFunction> functions) {
        return functions.isEmpty()
                ? "none"
                : functions.stream().limit(20).map(ProgramFunction::name).collect(Collectors.joining(", "));
    }

    /** Whether a function matching only by name is a variant. */
    private boolean agrees(CompiledFunction function) {
        if (function.name().equals(options.function())) {
            return true; // otherwise report the mismatch
        }
        try {
            sizes(function);
            checkLike(function);
            return true;
        } catch (IreeException e) {
            unlike = "'%s' does not: %s".formatted(function.name(), e.getMessage());
            return false;
        }
    }

    private void add(CompiledFunction function) {
        long[] sizes = sizes(function);
        checkLike(function);
        FunctionVariant variant = new FunctionVariant(function, rules.axes(), rules.exact(), sizes);
        for (FunctionVariant other : variants) {
            if (other.shape().equals(variant.shape())) {
                throw fault("'%s' and '%s' have the same sizes, %s; leave one of them out"
                        .formatted(other.function().fullName(), function.fullName(), variant.shape()));
            }
        }
        if (variants.size() == MOST) {
            throw fault("there are more than %d variants".formatted(MOST));
        }
        for (FunctionVariant other : variants) {
            if (other.function().name().equals(function.name())) {
                other.sharesName();
                variant.sharesName();
            }
        }
        functions.add(function);
        variants.add(variant);
    }

    // Checking.

    /** The compiled sizes of a function, by axis. */
    private long[] sizes(CompiledFunction function) {
        if (function.arguments().size() != rules.inputs().size()
                || function.results().size() != rules.results().size()) {
            throw fault("the rules %s are for %d arguments and %d results, and '%s' has %d and %d"
                    .formatted(
                            rules,
                            rules.inputs().size(),
                            rules.results().size(),
                            function.fullName(),
                            function.arguments().size(),
                            function.results().size()));
        }
        Map<String, Long> given = said.get(function);
        long[] sizes = rules.axes().stream()
                .mapToLong(
                        axis -> given == null ? FunctionVariant.OPEN : given.getOrDefault(axis, FunctionVariant.OPEN))
                .toArray();
        boolean declared = false;
        for (int i = 0; i < rules.inputs().size(); i++) {
            Value rule = rules.inputs().get(i);
            if (rule.dimensions() != null) {
                ValueDeclaration value = function.arguments().get(i);
                String where = "argument %d of '%s'".formatted(i, function.fullName());
                declared |= isDeclared(value);
                measure(where, rule, value, sizes, true);
                checkFills(where, rule, value);
            }
        }
        if (!declared && given == null) {
            throw fault(
                    "the module declares no shapes for '%s'; give the sizes it was compiled for, by a pattern such as '%s_{%s}', or with its module"
                            .formatted(function.fullName(), options.function(), String.join("}x{", rules.axes())));
        }
        for (int i = 0; i < rules.results().size(); i++) {
            Value rule = rules.results().get(i);
            if (rule.dimensions() != null) {
                measure(
                        "result %d of '%s'".formatted(i, function.fullName()),
                        rule,
                        function.results().get(i),
                        sizes,
                        false);
            }
        }
        return sizes;
    }

    /** Whether a value is declared. Programs imported from ONNX, for example, declare values as references of unknown type. */
    private static boolean isDeclared(ValueDeclaration value) {
        return value.isTensor()
                || value.elementType().isPresent()
                || !value.type().equals("!vm.ref<?>");
    }

    private void measure(String where, Value rule, ValueDeclaration value, long[] sizes, boolean argument) {
        List<String> dimensions = rule.dimensions() == null ? List.of() : rule.dimensions();
        if (!isDeclared(value)) {
            return;
        }
        if (!value.isTensor() || shape(value).size() != dimensions.size()) {
            throw fault("%s is %s, and its rule [%s]".formatted(where, value.type(), String.join(" ", dimensions)));
        }
        if (rule.type() != null && !rule.type().equals(elementType(value))) {
            throw fault("%s is %s, and its rule %s".formatted(where, value.type(), rule));
        }
        if (!elementType(value).isByteAligned()) {
            throw fault("%s is %s, whose elements share bytes, so that it cannot be padded or cut"
                    .formatted(where, value.type()));
        }
        for (int d = 0; d < dimensions.size(); d++) {
            long size = shape(value).get(d);
            String dimension = dimensions.get(d);
            if (Value.isAxis(dimension)) {
                int axis = rules.axes().indexOf(dimension);
                if (argument && sizes[axis] == FunctionVariant.OPEN) {
                    sizes[axis] = size;
                } else if (size >= 0 && size != sizes[axis]) {
                    throw fault("%s is %s, where '%s' is %d, and elsewhere it is %s"
                            .formatted(
                                    where,
                                    value.type(),
                                    dimension,
                                    size,
                                    sizes[axis] == FunctionVariant.OPEN ? "open" : Long.toString(sizes[axis])));
                }
            } else if (!dimension.equals("_") && size >= 0 && size != Long.parseLong(dimension)) {
                throw fault("%s is %s, and its rule [%s]".formatted(where, value.type(), String.join(" ", dimensions)));
            }
        }
    }

    private void checkFills(String where, Value rule, ValueDeclaration value) {
        ElementType type = value.isTensor() ? value.elementType().orElse(null) : rule.type();
        try {
            if (type != null) { // otherwise the type of the input
                Fills.encoded(type, rule.mask() ? 1 : rule.fill());
            }
        } catch (IreeException e) {
            throw fault("%s cannot be filled: %s".formatted(where, e.getMessage()), e);
        }
        List<String> dimensions = rule.dimensions();
        for (int d = 0; rule.mask() && dimensions != null && d < dimensions.size(); d++) {
            if (dimensions.get(d).equals("_")
                    && (!value.isTensor() || shape(value).get(d) < 0)) {
                throw fault("%s is a mask, and nothing determines the size of its dimension %d".formatted(where, d));
            }
        }
    }

    /** Checks that a function has the kinds and types of the first variant, except for axes. */
    private void checkLike(CompiledFunction function) {
        if (functions.isEmpty()) {
            return;
        }
        CompiledFunction first = functions.getFirst();
        boolean alike = function.argumentKinds().equals(first.argumentKinds())
                && function.resultKinds().equals(first.resultKinds());
        for (int i = 0; alike && i < rules.inputs().size(); i++) {
            alike = alike(
                    rules.inputs().get(i),
                    function.arguments().get(i),
                    first.arguments().get(i));
        }
        for (int i = 0; alike && i < rules.results().size(); i++) {
            alike = alike(
                    rules.results().get(i),
                    function.results().get(i),
                    first.results().get(i));
        }
        if (!alike) {
            throw fault("'%s' and '%s' differ in more than the sizes of axes: %s and %s"
                    .formatted(first.fullName(), function.fullName(), first.declaration(), function.declaration()));
        }
    }

    private static boolean alike(Value rule, ValueDeclaration a, ValueDeclaration b) {
        if (rule.dimensions() == null) {
            return a.type().equals(b.type());
        }
        if (!a.isTensor() || !b.isTensor()) {
            return true; // nothing is known
        }
        boolean alike = elementType(a).equals(elementType(b));
        for (int d = 0; alike && d < rule.dimensions().size(); d++) {
            alike = Value.isAxis(rule.dimensions().get(d))
                    || shape(a).get(d) < 0
                    || shape(b).get(d) < 0
                    || shape(a).get(d).equals(shape(b).get(d));
        }
        return alike;
    }

    private static List<Long> shape(ValueDeclaration value) {
        return value.shape().orElse(List.of());
    }

    private static ElementType elementType(ValueDeclaration value) {
        return value.elementType().orElse(ElementType.NONE);
    }

    private IreeException fault(String what) {
        return fault(what, null);
    }

    private IreeException fault(String what, @Nullable IreeException cause) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "variants of '%s' cannot be used: %s".formatted(TensorText.abbreviate(options.function()), what),
                cause,
                new VariantFault(options.function()));
    }
}
