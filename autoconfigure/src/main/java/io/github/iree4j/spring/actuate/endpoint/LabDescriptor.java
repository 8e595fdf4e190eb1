package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.lab.Scenario;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The scenarios of the laboratory.
 *
 * @param scenarios in the order in which they are best read
 */
public record LabDescriptor(List<Item> scenarios) implements OperationResponseBody {

    /**
     * A scenario.
     *
     * @param id its id
     * @param label its name for people
     * @param description what it shows
     * @param hasDepth whether it can be repeated, one repetition chained to the other
     * @param hasLanes whether the number of lanes can be chosen
     */
    public record Item(String id, String label, String description, boolean hasDepth, boolean hasLanes) {

        static Item of(Scenario scenario) {
            return new Item(
                    scenario.id(),
                    scenario.label(),
                    scenario.description(),
                    !scenario.chainThrough().isEmpty()
                            || !scenario.iterationDependencies().isEmpty(),
                    scenario.hardware().stream().anyMatch(Scenario.Hardware::scalable));
        }
    }
}
