package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.ProgramState;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The response of the {@code iree} endpoint without a selector.
 *
 * @param devices the runtime's devices, in the order seen by programs
 * @param modules states of the programs' latest versions by name
 * @param task the workers
 * @param activeCalls number of calls in flight
 * @param waitingOperations number of deferred operations on all queues
 * @param problems number of problems, see {@code /actuator/iree/problems}
 * @param selectors the selectors, as in {@code /actuator/iree/queues}
 */
public record IreeDescriptor(
        List<DeviceDescriptor> devices,
        Map<String, ProgramState> modules,
        TaskDescriptor task,
        int activeCalls,
        long waitingOperations,
        int problems,
        List<String> selectors)
        implements OperationResponseBody {}
