package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.slf4j.LoggerFactory;

/**
 * The parts of the runtime that are found as services, looked for once: the class path does not change. A provider that
 * cannot be created is skipped, with a warning: a defect of a part is no reason for others to fail. For this project's own
 * packages; safe from any thread.
 */
@NotForApplications
public final class Services {
    /** Limit of defects of a service, against a loader that never ends. */
    private static final int MOST = 100;

    private static final ClassValue<List<?>> FOUND = new ClassValue<>() {
        @Override
        protected List<?> computeValue(Class<?> service) {
            return find(service);
        }
    };

    private Services() {}

    /**
     * Returns the providers of a service that can be created.
     *
     * @param service a service that the descriptor of this module uses
     * @return the providers, in the order of the class path; the same each time
     * @param <T> the service
     */
    @SuppressWarnings("unchecked") // as found
    public static <T> List<T> of(Class<T> service) {
        return (List<T>) FOUND.get(service);
    }

    private static <T> List<T> find(Class<T> service) {
        List<T> providers = new ArrayList<>();
        Iterator<T> found =
                ServiceLoader.load(service, service.getClassLoader()).iterator();
        for (int defects = 0; defects < MOST; ) {
            try {
                if (!found.hasNext()) {
                    break;
                }
                providers.add(found.next());
            } catch (ServiceConfigurationError | LinkageError e) {
                defects++;
                LoggerFactory.getLogger(Services.class)
                        .warn("a part of the runtime ({}) cannot be used and is skipped", service.getName(), e);
            }
        }
        return List.copyOf(providers);
    }
}
