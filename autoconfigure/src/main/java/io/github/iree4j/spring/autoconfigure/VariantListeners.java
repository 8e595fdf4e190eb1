package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;
import io.github.iree4j.monitor.VariantListener;
import java.util.List;
import java.util.function.Consumer;

/**
 * Composite {@link VariantListener}.
 *
 * @param all the listeners
 */
record VariantListeners(List<VariantListener> all) implements VariantListener, Consumer<ProgramOptions.Builder> {

    @Override
    public void accept(ProgramOptions.Builder options) {
        if (!all.isEmpty()) {
            options.variantListener(this);
        }
    }

    @Override
    public void called(String consumer, String function, String variant, long elements, long padding) {
        all.forEach(each -> each.called(consumer, function, variant, elements, padding));
    }

    @Override
    public void aligned(String consumer, String function, long padding) {
        all.forEach(each -> each.aligned(consumer, function, padding));
    }
}
