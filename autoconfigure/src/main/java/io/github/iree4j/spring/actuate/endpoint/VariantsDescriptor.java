package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.FunctionVariant;
import io.github.iree4j.FunctionVariants;
import io.github.iree4j.spring.Programs.LoadedProgram;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What a function chooses among at each call.
 *
 * @param shapes which dimensions of arguments and results belong together
 * @param elements elements that arguments with axes had of all calls, as variants got them
 * @param padding how many of these no caller gave
 * @param functions the functions
 */
public record VariantsDescriptor(String shapes, long elements, long padding, List<Variant> functions) {

    /**
     * One of them.
     *
     * @param name its name among them
     * @param sizes by axis, -1 for any
     * @param calls how many it got
     */
    public record Variant(String name, Map<String, Long> sizes, long calls) {}

    /** Those of all instances of a program together. */
    static VariantsDescriptor of(FunctionVariants variants, LoadedProgram program, String function) {
        List<FunctionVariants> all = program.instances().stream()
                .map(instance -> instance.function(function).variants())
                .filter(Objects::nonNull)
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
