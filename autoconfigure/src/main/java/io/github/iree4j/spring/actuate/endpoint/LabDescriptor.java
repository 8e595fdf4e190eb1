package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.lab.Scenario;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The scenarios of the laboratory.
 *
 * @param scenarios in the best order for reading
 */
public record LabDescriptor(List<Item> scenarios) implements OperationResponseBody {

    /**
     * A scenario.
     *
     * @param id the scenario's id
     * @param label the scenario's name for people
     * @param description the subject of the scenario
     * @param hasDepth whether the scenario can be repeated in a chain
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
