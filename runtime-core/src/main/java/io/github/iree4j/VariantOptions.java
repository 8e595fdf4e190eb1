package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorText;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A function of a program with several compiled variants, see {@link FunctionVariants}.
 *
 * @param function the function's name, without a module's name
 * @param rules rules for padding calls and cutting results; null for the rules declared by the module ({@value
 *     FunctionVariants#ATTRIBUTE})
 * @param functions names of the functions to select from, in which {@code *} stands for any characters and
 *     <code>{axis}</code> for the size of an axis, where the module declares no shapes; empty for functions of the
 *     program that fit the rules and have this function's name, or this name with a suffix after {@code _}, {@code -},
 *     {@code $} or {@code .}
 * @param modules further modules with such functions, each loaded separately with the parameters and devices of the
 *     program
 * @param dynamicCost relative cost of an element in a function compiled with open dimensions, where the cost is 1 if
 *     all are static; at least 1
 */
public record VariantOptions(
        String function, @Nullable ShapeRules rules, List<String> functions, List<Module> modules, double dynamicCost) {

    /**
     * A further module.
     *
     * @param source the compiled module
     * @param sizes the compiled sizes of the module's functions, by axis, where the module declares no sizes; an
     *     omitted axis is open
     */
    public record Module(ProgramOptions.Source source, Map<String, Long> sizes) {
        /**
         * Copies the sizes.
         *
         * @throws IreeException INVALID_ARGUMENT for a negative size
         */
        public Module {
            sizes = Map.copyOf(sizes);
            sizes.forEach((axis, size) -> {
                if (size < 0) {
                    throw new IreeException(
                            StatusCode.INVALID_ARGUMENT, "size %d of axis '%s' is negative".formatted(size, axis));
                }
            });
        }
    }

    /**
     * Cost of dynamic shapes: a sentence encoder of six layers took 4.1 times as long at 16 x 128 tokens. A guess for other
     * programs.
     */
    public static final double DEFAULT_DYNAMIC_COST = 4;

    /**
     * Checks and copies.
     *
     * @throws IreeException INVALID_ARGUMENT for a function without a name, or a cost below 1
     */
    public VariantOptions {
        if (function.isBlank()) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "variants of a function without a name");
        }
        if (!(dynamicCost >= 1 && dynamicCost <= 1e9)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "variants of '%s': a cost of %s for open dimensions is not within [1, 1e9]"
                            .formatted(TensorText.abbreviate(function), dynamicCost));
        }
        functions = List.copyOf(functions);
        modules = List.copyOf(modules);
    }

    /**
     * Returns options for variants in the modules of the program itself, found by name.
     *
     * @param function the function's name
     * @param rules rules for padding calls and cutting results
     * @return the options
     */
    public static VariantOptions of(String function, ShapeRules rules) {
        return new VariantOptions(function, rules, List.of(), List.of(), DEFAULT_DYNAMIC_COST);
    }

    /**
     * Returns these options for other functions.
     *
     * @param names or patterns
     * @return the options
     */
    public VariantOptions among(String... names) {
        return new VariantOptions(function, rules, List.of(names), modules, dynamicCost);
    }

    /**
     * Returns these options with further modules.
     *
     * @param sources compiled modules with declared shapes
     * @return the options
     */
    public VariantOptions in(ProgramOptions.Source... sources) {
        return new VariantOptions(
                function,
                rules,
                functions,
                Stream.of(sources).map(source -> new Module(source, Map.of())).toList(),
                dynamicCost);
    }

    /**
     * Returns these options with another cost of open dimensions.
     *
     * @param cost at least 1
     * @return the options
     */
    public VariantOptions costing(double cost) {
        return new VariantOptions(function, rules, functions, modules, cost);
    }
}
