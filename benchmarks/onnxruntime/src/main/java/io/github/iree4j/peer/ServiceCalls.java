package io.github.iree4j.peer;

import com.sun.management.OperatingSystemMXBean;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Measures calls through {@link InvocationService}, one after another, each after a pause: {@code FUNCTION PAUSE SECONDS
 * INPUT...}, with the program's properties as system properties {@code iree.modules.peer.*} and inputs already on the
 * device. Prints the median real time of a call, and the mean processor time of the process, in the form of Google
 * Benchmark. {@code benchmarks/peer.py --pause} is the caller.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
final class ServiceCalls {
    private static final double WARM_UP = 10; // seconds, as of benchmarks/peer.py
    private static final double NANOS = 1e9;

    private ServiceCalls() {}

    /**
     * Prints the times of calls.
     *
     * @param arguments the function, the pause in milliseconds, the duration in seconds, the inputs
     * @throws InterruptedException never
     */
    public static void main(String[] arguments) throws InterruptedException {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(ServiceCalls.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .run()) {
            InvocationService service = context.getBean(InvocationService.class);
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            Object[] inputs = Arrays.stream(arguments)
                    .skip(3)
                    .map(text -> runtime.upload(Tensor.parse(text)))
                    .toArray();
            String function = "peer." + arguments[0];
            long pause = Long.parseLong(arguments[1]);
            measure(service, function, inputs, 0, WARM_UP);
            System.out.println(measure(service, function, inputs, pause, Double.parseDouble(arguments[2])));
        }
    }

    private static String measure(
            InvocationService service, String function, Object[] inputs, long pause, double seconds)
            throws InterruptedException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long[] times = new long[1 << 22];
        int calls = 0;
        long used = system.getProcessCpuTime();
        long end = System.nanoTime() + (long) (seconds * NANOS);
        for (long now = System.nanoTime(); now < end && calls < times.length; calls++) {
            if (pause > 0) {
                Thread.sleep(pause);
                now = System.nanoTime();
            }
            service.invoke(function, inputs).close();
            long after = System.nanoTime();
            times[calls] = after - now;
            now = after;
        }
        used = system.getProcessCpuTime() - used;
        Arrays.sort(times, 0, calls);
        return String.format(
                Locale.ROOT,
                "{\"benchmarks\": [{\"real_time\": %.1f, \"cpu_time\": %.1f, \"time_unit\": \"ns\"}]}",
                (double) times[calls / 2],
                (double) used / calls);
    }
}
