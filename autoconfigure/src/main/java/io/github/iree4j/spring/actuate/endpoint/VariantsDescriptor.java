package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.FunctionVariant;
import io.github.iree4j.FunctionVariants;
import io.github.iree4j.spring.LoadedProgram;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The shape variants of a function.
 *
 * @param shapes the ties between dimensions of arguments and results
 * @param elements elements of the arguments with axes in all calls, as passed to variants
 * @param padding number of padding elements among these
 * @param functions the variants
 */
public record VariantsDescriptor(String shapes, long elements, long padding, List<Variant> functions) {

    /**
     * A variant.
     *
     * @param name of the variant
     * @param sizes by axis, -1 for any
     * @param calls number of calls
     */
    public record Variant(String name, Map<String, Long> sizes, long calls) {}

    /** Returns totals over all instances of a program. */
    static VariantsDescriptor of(FunctionVariants variants, LoadedProgram program, String function) {
        List<FunctionVariants> all = program.instances().stream()
                .flatMap(instance -> instance.function(function).variants().stream())
                .toList();
        List<Variant> functions = new ArrayList<>();
        for (int i = 0; i < variants.all().size(); i++) {
            int index = i;
            FunctionVariant variant = variants.all().get(i);
            functions.add(new Variant(
                    variant.name(),
                    variant.sizes(),
                    all.stream()
                            .mapToLong(each -> each.all().get(index).calls())
                            .sum()));
        }
        return new VariantsDescriptor(
                variants.rules().toString(),
                all.stream().mapToLong(FunctionVariants::elements).sum(),
                all.stream().mapToLong(FunctionVariants::padding).sum(),
                functions);
    }
}
