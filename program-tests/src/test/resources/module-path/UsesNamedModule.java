import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ProgramOptions;
import java.nio.file.Path;

/** Started by ModulePathTest on the module path, with a program that has {@code fibonacci}. */
class UsesNamedModule {
    public static void main(String[] args) {
        try (var runtime = IreeRuntime.create();
                var loaded = runtime.load(
                        ProgramOptions.builder().module(Path.of(args[0])).build());
                var results = loaded.function("fibonacci").invoke(30)) {
            System.out.println(IreeRuntime.class.getModule().getName());
            System.out.println(runtime.devices().size() + " device");
            System.out.println("native: " + IreeRuntime.nativeUnavailabilityCause());
            System.out.println(results.get(0));
        }
    }
}
