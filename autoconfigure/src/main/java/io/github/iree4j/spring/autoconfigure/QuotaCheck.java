package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import java.util.TreeSet;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Checks quotas once all beans exist, since beans may register programs not named by any property. Devices of other
 * machines are checked when opened; the check does not open devices.
 */
final class QuotaCheck implements SmartInitializingSingleton {

    private final IreeProperties properties;
    private final Programs programs;
    private final IreeRuntime runtime;

    QuotaCheck(IreeProperties properties, Programs programs, IreeRuntime runtime) {
        this.runtime = runtime;
        this.properties = properties;
        this.programs = programs;
    }

    @Override
    public void afterSingletonsInstantiated() {
        TreeSet<String> known = new TreeSet<>(properties.modules().keySet());
        programs.statuses().forEach(status -> known.add(status.source().name()));
        PropertyChecks checks = new PropertyChecks(properties);
        checks.quotas(known);
        runtime.monitor().devices().watch(device -> {
            long budget = device.allocator().poolStatistics().budget();
            if (budget > 0) {
                checks.warnOfQuotas(runtime.monitor().devices().nameOf(device), budget);
            }
        });
    }
}
