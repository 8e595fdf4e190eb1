package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.Programs;
import java.util.TreeSet;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Checks quotas once all beans exist: some of these may register programs that no property names. */
final class QuotaCheck implements SmartInitializingSingleton {

    private final IreeProperties properties;
    private final Programs programs;

    QuotaCheck(IreeProperties properties, Programs programs) {
        this.properties = properties;
        this.programs = programs;
    }

    @Override
    public void afterSingletonsInstantiated() {
        TreeSet<String> known = new TreeSet<>(properties.modules().keySet());
        programs.statuses().forEach(status -> known.add(status.source().name()));
        new PropertyChecks(properties).quotas(known);
    }
}
