package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorText;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A function of a program with several compiled variants, see {@link FunctionVariants}. Immutable: each method with a
 * parameter returns changed options.
 *
 * <pre>{@code
 * VariantOptions.of("encode", ShapeRules.parse("[batch length] -> [batch 384]")).functions("encode_*")
 * }</pre>
 */
public final class VariantOptions {
    /**
     * Cost of dynamic shapes: a sentence encoder of six layers took 4.1 times as long at 16 x 128 tokens. A guess for other
     * programs.
     */
    public static final double DEFAULT_DYNAMIC_COST = 4;

    private final String function;
    private final @Nullable ShapeRules rules; // null for the rules declared by the module
    private final List<String> functions;
    private final List<Module> modules;
    private final double dynamicCost;

    /** A further module; {@code sizes} by axis, an omitted axis is open. */
    record Module(ProgramOptions.Source source, Map<String, Long> sizes) {}

    private VariantOptions(
            String function,
            @Nullable ShapeRules rules,
            List<String> functions,
            List<Module> modules,
            double dynamicCost) {
        this.function = function;
        this.rules = rules;
        this.functions = functions;
        this.modules = modules;
        this.dynamicCost = dynamicCost;
    }

    /**
     * Returns options for variants in the modules of the program itself, found by name: functions that fit the rules and
     * have the function's name, or this name with a suffix after {@code _}, {@code -}, {@code $} or {@code .}
     *
     * @param function the function's name, without a module's name
     * @param rules rules for padding calls and cutting results; null for the rules declared by the module ({@value
     *     FunctionVariants#ATTRIBUTE})
     * @return the options
     * @throws IreeException INVALID_ARGUMENT for a function without a name
     */
    public static VariantOptions of(String function, @Nullable ShapeRules rules) {
        if (function.isBlank()) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "variants of a function without a name");
        }
        return new VariantOptions(function, rules, List.of(), List.of(), DEFAULT_DYNAMIC_COST);
    }

    /**
     * Returns these options for other functions.
     *
     * @param names names of the functions to select from, in which {@code *} stands for any characters and
     *     <code>{axis}</code> for the size of an axis, where the module declares no shapes
     * @return the options
     */
    public VariantOptions functions(String... names) {
        return new VariantOptions(function, rules, List.of(names), modules, dynamicCost);
    }

    /**
     * Returns these options with a further module with such functions. The module declares shapes, and is loaded
     * separately, with the parameters and devices of the program.
     *
     * @param file the compiled module
     * @return the options
     */
    public VariantOptions module(Path file) {
        return module(file, Map.of());
    }

    /**
     * Returns these options with a further module, as {@link #module(Path)} does, for a module that declares no shapes.
     *
     * @param file the compiled module
     * @param sizes the compiled sizes of the module's functions, by axis; an omitted axis is open
     * @return the options
     * @throws IreeException INVALID_ARGUMENT for a negative size
     */
    public VariantOptions module(Path file, Map<String, Long> sizes) {
        return module(new ProgramOptions.Source.File(file, false), sizes);
    }

    /**
     * Returns these options with a further module, as {@link #module(Path, Map)} does.
     *
     * @param bytes the compiled module; stays the caller's; a loaded program retains the bytes
     * @param sizes the compiled sizes of the module's functions, by axis; empty for a module that declares shapes
     * @return the options
     * @throws IreeException INVALID_ARGUMENT for a negative size
     */
    public VariantOptions module(ModuleBytes bytes, Map<String, Long> sizes) {
        return module(new ProgramOptions.Source.Shared(bytes), sizes);
    }

    private VariantOptions module(ProgramOptions.Source source, Map<String, Long> sizes) {
        sizes.forEach((axis, size) -> {
            if (size < 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "size %d of axis '%s' is negative".formatted(size, axis));
            }
        });
        Module further = new Module(source, Map.copyOf(sizes));
        return with(Stream.concat(modules.stream(), Stream.of(further)).toList());
    }

    private VariantOptions with(List<Module> further) {
        return new VariantOptions(function, rules, functions, further, dynamicCost);
    }

    /**
     * Returns these options with another cost of open dimensions.
     *
     * @param cost relative cost of an element in a function compiled with open dimensions, where the cost is 1 if all
     *     are static: 1 to 1e9, {@value #DEFAULT_DYNAMIC_COST} unless set
     * @return the options
     * @throws IreeException INVALID_ARGUMENT for a cost out of range
     */
    public VariantOptions dynamicCost(double cost) {
        if (!(cost >= 1 && cost <= 1e9)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "variants of '%s': a cost of %s for open dimensions is not within [1, 1e9]"
                            .formatted(TensorText.abbreviate(function), cost));
        }
        return new VariantOptions(function, rules, functions, modules, cost);
    }

    /** These options, without the modules, whose bytes need not be kept once loaded. */
    VariantOptions withoutModules() {
        return with(List.of());
    }

    String function() {
        return function;
    }

    @Nullable
    ShapeRules rules() {
        return rules;
    }

    List<String> functions() {
        return functions;
    }

    List<Module> modules() {
        return modules;
    }

    double dynamicCost() {
        return dynamicCost;
    }
}
