package io.github.iree4j.spring.actuate.endpoint;

import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the {@code iree} endpoint answers.
 *
 * @param devices the runtime's devices, in the order in which programs see them
 * @param modules the programs, sorted by name
 * @param task the workers
 */
public record IreeDescriptor(List<DeviceDescriptor> devices, List<ModuleDescriptor> modules, TaskDescriptor task)
        implements OperationResponseBody {}
