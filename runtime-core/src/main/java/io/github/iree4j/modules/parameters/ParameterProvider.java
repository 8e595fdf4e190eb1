package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.Resource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The source of the parameters of a scope. A program names each parameter by scope and key ({@code "model"::"weight"});
 * the scope is chosen at compile time, the provider at run time.
 *
 * <p>Implementations must be safe from any thread. The module retains a provider for each context using the provider.
 */
public abstract class ParameterProvider extends Resource {
    private final String scope;

    /**
     * Creates a provider.
     *
     * @param scope the scope to serve; empty for parameters without a scope
     */
    protected ParameterProvider(String scope) {
        this.scope = scope;
    }

    /**
     * Serves a scope from archives, searched in order.
     *
     * @param scope the scope
     * @param archives the archives; retained, so the caller may close them at once
     * @return the provider, to be closed by the caller
     */
    public static ParameterProvider of(String scope, ParameterArchive... archives) {
        return new ArchiveProvider(scope, List.of(archives));
    }

    /**
     * Returns the scope served.
     *
     * @return the scope, empty for parameters without a scope
     */
    public final String scope() {
        return scope;
    }

    /**
     * Finds a parameter.
     *
     * @param key the parameter's key
     * @return the entry; empty when the key is unknown
     */
    public abstract Optional<ParameterEntry> find(String key);

    /**
     * Returns all keys, for error messages and listings.
     *
     * @return the keys
     */
    public abstract Collection<String> keys();

    @Override
    protected String describe() {
        return "parameter provider for scope '" + scope + "'";
    }

    private static final class ArchiveProvider extends ParameterProvider {
        private final List<ParameterArchive> archives = new ArrayList<>();

        ArchiveProvider(String scope, List<ParameterArchive> archives) {
            super(scope);
            try {
                for (ParameterArchive archive : archives) {
                    archive.retain();
                    this.archives.add(archive);
                }
            } catch (RuntimeException e) {
                destroy();
                throw e;
            }
        }

        @Override
        public Optional<ParameterEntry> find(String key) {
            checkLive();
            return archives.stream()
                    .flatMap(archive -> archive.find(key).stream())
                    .findFirst();
        }

        @Override
        public Collection<String> keys() {
            checkLive();
            List<String> keys = new ArrayList<>();
            for (ParameterArchive archive : archives) {
                for (ParameterEntry entry : archive.entries()) {
                    keys.add(entry.key());
                }
            }
            return keys;
        }

        @Override
        protected void destroy() {
            archives.forEach(ParameterArchive::release);
        }
    }
}
