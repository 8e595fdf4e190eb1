package io.github.iree4j;

import io.github.iree4j.AbiDeclaration.TensorType;
import io.github.iree4j.ShapeRules.Value;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the compiled functions that one function stands for, and checks that they fit together and the rules. Names, shapes and rules may come
 * from a module that nobody vouches for: what does not fit is refused when the program is loaded. Used once.
 */
final class VariantBinder {
    private static final int MOST = 1024;

    /** Ends names of functions that compilers of 2024 export beside those without fences. */
    private static final String WITH_FENCES = "$async";

    private final VariantOptions options;
    private final List<CompiledFunction> known;
    private final String consumer;
    private final @Nullable VariantListener listener;
    private final ShapeRules rules;
    private final List<CompiledFunction> functions = new ArrayList<>();
    private final List<FunctionVariant> variants = new ArrayList<>();

    /**
     * Finds and checks.
     *
     * @param own functions of the program
     * @param parts functions of each further module
     */
    VariantBinder(
            VariantOptions options,
            List<CompiledFunction> own,
            List<List<CompiledFunction>> parts,
            String consumer,
            @Nullable VariantListener listener) {
        this.options = options;
        this.consumer = consumer;
        this.listener = listener;
        this.known = new ArrayList<>(own);
        parts.forEach(known::addAll);
        this.rules = rulesOf(options);
        if (options.functions().isEmpty()) {
            own.stream().filter(this::isCalledSo).filter(this::agrees).forEach(this::add);
            for (List<CompiledFunction> part : parts) {
                List<CompiledFunction> called =
                        part.stream().filter(this::isCalledSo).toList();
                (called.isEmpty() && part.size() == 1 ? part : called).forEach(this::add);
                if (called.isEmpty() && part.size() != 1) {
                    throw fault("a further module has no function of that name; it has %s".formatted(names(part)));
                }
            }
        } else {
            options.functions().forEach(this::addThoseOf);
        }
        if (functions.isEmpty()) {
            throw fault("no function is called so and fits the rules %s; there are %s".formatted(rules, names(known)));
        }
    }

    // What was found.

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

    /** The one whose kinds and names are those of all. */
    CompiledFunction like() {
        return functions.getFirst();
    }

    /** Of arguments with axes, those open. */
    List<@Nullable TensorType> types() {
        List<@Nullable TensorType> types = new ArrayList<>();
        for (int i = 0; i < rules.inputs().size(); i++) {
            Value rule = rules.inputs().get(i);
            types.add(rule.dimensions() == null ? null : type(rule.dimensions(), i, true));
        }
        return types;
    }

    /** Arguments or results, with axes open. */
    List<ValueDeclaration> declarations(List<Value> of, List<ValueDeclaration> given) {
        List<ValueDeclaration> open = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            ValueDeclaration value = given.get(i);
            List<String> dimensions = of.get(i).dimensions();
            if (dimensions != null) {
                TensorType type = type(dimensions, i, of == rules.inputs());
                List<Long> shape = Arrays.stream(type.shape()).boxed().toList();
                value = new ValueDeclaration(value.name(), type.toString(), type.type(), shape);
            }
            open.add(value);
        }
        return open;
    }

    /** Axes are open, and whatever some variant leaves open. */
    private TensorType type(List<String> dimensions, int index, boolean argument) {
        long[] shape = new long[dimensions.size()];
        ElementType type = ElementType.NONE;
        for (CompiledFunction each : functions) {
            ValueDeclaration value = (argument ? each.arguments() : each.results()).get(index);
            type = elementType(value);
            for (int d = 0; d < shape.length; d++) {
                long size = shape(value).get(d);
                shape[d] = Value.isAxis(dimensions.get(d)) || size < 0 || shape[d] < 0 ? -1 : size;
            }
        }
        return new TensorType(type, shape);
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
                "neither the options nor the module say the rules for its shapes, such as '[batch length] -> [batch 384]'");
    }

    private boolean isCalledSo(CompiledFunction function) {
        String other = function.name();
        String name = options.function();
        return other.equals(name)
                || other.startsWith(name)
                        && "_-$.".indexOf(other.charAt(name.length())) >= 0
                        && !other.endsWith(WITH_FENCES);
    }

    private void addThoseOf(String pattern) {
        Pattern compiled = Pattern.compile(
                Arrays.stream(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")));
        boolean found = false;
        for (CompiledFunction each : known) {
            if (compiled.matcher(each.name()).matches()
                    || compiled.matcher(each.fullName()).matches()) {
                found = true;
                if (!functions.contains(each)) {
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

    /** Whether a function that merely is called like a variant is one. */
    private boolean agrees(CompiledFunction function) {
        if (function.name().equals(options.function())) {
            return true; // else it is worth a message
        }
        try {
            sizes(function);
            checkLike(function);
            return true;
        } catch (IreeException e) {
            return false;
        }
    }

    private void add(CompiledFunction function) {
        long[] sizes = sizes(function);
        checkLike(function);
        FunctionVariant variant = new FunctionVariant(function, rules.axes(), sizes);
        for (FunctionVariant other : variants) {
            if (other.shape().equals(variant.shape())) {
                throw fault("'%s' and '%s' are of the same sizes, %s; leave one of them out"
                        .formatted(other.function().fullName(), function.fullName(), variant.shape()));
            }
        }
        if (variants.size() == MOST) {
            throw fault("there are more than %d".formatted(MOST));
        }
        functions.add(function);
        variants.add(variant);
    }

    // Checking.

    /** What a function was compiled for, by axis. */
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
        long[] sizes = new long[rules.axes().size()];
        Arrays.fill(sizes, FunctionVariant.OPEN);
        for (int i = 0; i < rules.inputs().size(); i++) {
            Value rule = rules.inputs().get(i);
            if (rule.dimensions() != null) {
                String where = "argument %d of '%s'".formatted(i, function.fullName());
                measure(where, rule.dimensions(), function.arguments().get(i), sizes, true);
                checkFills(where, rule, function.arguments().get(i));
            }
        }
        for (int i = 0; i < rules.results().size(); i++) {
            List<String> dimensions = rules.results().get(i).dimensions();
            if (dimensions != null) {
                measure(
                        "result %d of '%s'".formatted(i, function.fullName()),
                        dimensions,
                        function.results().get(i),
                        sizes,
                        false);
            }
        }
        return sizes;
    }

    private void measure(
            String where, List<String> dimensions, ValueDeclaration value, long[] sizes, boolean argument) {
        if (!value.isTensor() || shape(value).size() != dimensions.size()) {
            throw fault("%s is %s, and its rule [%s]".formatted(where, value.type(), String.join(" ", dimensions)));
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
        try {
            Fills.encoded(elementType(value), rule.mask() ? 1 : rule.fill());
        } catch (IreeException e) {
            throw fault("%s cannot be filled: %s".formatted(where, e.getMessage()), e);
        }
        List<String> dimensions = rule.dimensions();
        for (int d = 0; rule.mask() && dimensions != null && d < dimensions.size(); d++) {
            if (!Value.isAxis(dimensions.get(d)) && shape(value).get(d) < 0) {
                throw fault("%s is a mask, and nothing says how large its dimension %d is".formatted(where, d));
            }
        }
    }

    /** Whether it has the kinds and types of those that were found before, axes apart. */
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
        return value.shape() == null ? List.of() : value.shape();
    }

    private static ElementType elementType(ValueDeclaration value) {
        return value.elementType() == null ? ElementType.NONE : value.elementType();
    }

    private IreeException fault(String what) {
        return fault(what, null);
    }

    private IreeException fault(String what, @Nullable IreeException cause) {
        return new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "variants of '%s' cannot be used: %s".formatted(TensorText.abbreviate(options.function()), what),
                cause,
                new VariantFault(options.function()));
    }
}
