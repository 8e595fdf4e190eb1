package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.classfile.attribute.ModuleExportInfo;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The public types of a module's exported packages with public and protected members, in two files: {@code
 * public-api.txt} has the promises to applications, {@code marked-api.txt} the types marked {@link
 * io.github.iree4j.api.NotForApplications}, with members of other types that mention a marked type. A change is seen in
 * a review. {@code -Diree4j.api.write=true} writes the files anew.
 */
class PublicApiTest {
    private static final Set<String> OF_OBJECT = Set.of("equals", "hashCode", "toString");
    private static final Pattern OURS = Pattern.compile("io/github/iree4j/[\\w/$]+");
    private static final ClassDesc MARKER = ClassDesc.of("io.github.iree4j.api.NotForApplications");

    private final Map<String, Boolean> marked = new HashMap<>();

    /** The folder of the module in question. */
    Path folder() {
        return Path.of("");
    }

    private Path classes() {
        return folder().resolve("target/classes");
    }

    private List<ModuleExportInfo> exports() throws IOException {
        return ClassFile.of().parse(classes().resolve("module-info.class")).attributes().stream()
                .filter(ModuleAttribute.class::isInstance)
                .map(ModuleAttribute.class::cast)
                .flatMap(module -> module.exports().stream())
                .toList();
    }

    private static String packageName(ModuleExportInfo export) {
        return export.exportedPackage().name().stringValue().replace('/', '.');
    }

    /**
     * Packages exported to all; where there is none, packages exported to modules of this project; without a descriptor, all packages. In
     * order.
     */
    private Set<String> promised() throws IOException {
        if (!Files.exists(classes().resolve("module-info.class"))) {
            return packages();
        }
        List<ModuleExportInfo> all = exports();
        List<ModuleExportInfo> open =
                all.stream().filter(export -> export.exportsTo().isEmpty()).toList();
        return (open.isEmpty() ? all : open)
                .stream().map(PublicApiTest::packageName).collect(Collectors.toCollection(TreeSet::new));
    }

    private Set<String> packages() throws IOException {
        try (Stream<Path> files = Files.walk(classes())) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .map(file ->
                            classes().relativize(file.getParent()).toString().replace('/', '.'))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private Stream<ClassModel> types(String packageName) throws IOException {
        List<ClassModel> types = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes().resolve(packageName.replace('.', '/')))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".class"))
                    .sorted(Comparator.comparing(Path::toString)) // on each system in the same order
                    .toList()) {
                ClassModel type = ClassFile.of().parse(file);
                if (isPromised(type)) {
                    types.add(type);
                }
            }
        }
        return types.stream();
    }

    /** Whether the type is public, and so are the types around the type. */
    private boolean isPromised(ClassModel type) throws IOException {
        String name = type.thisClass().asInternalName();
        if (name.endsWith("package-info") || !isVisible(flags(type))) {
            return false;
        }
        int outer = name.lastIndexOf('$');
        return outer < 0 || isPromised(ClassFile.of().parse(classes().resolve(name.substring(0, outer) + ".class")));
    }

    /** Of a nested type, the modifiers of the declaration. */
    private static int flags(ClassModel type) {
        return type.attributes().stream()
                .filter(java.lang.classfile.attribute.InnerClassesAttribute.class::isInstance)
                .map(java.lang.classfile.attribute.InnerClassesAttribute.class::cast)
                .flatMap(inner -> inner.classes().stream())
                .filter(inner -> inner.innerClass().equals(type.thisClass()))
                .map(inner -> inner.flagsMask())
                .findFirst()
                .orElse(type.flags().flagsMask());
    }

    private static boolean isVisible(int flags) {
        return (flags & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0 && (flags & AccessFlag.SYNTHETIC.mask()) == 0;
    }

    private static String name(ClassDesc type) {
        if (type.isArray()) {
            return name(type.componentType()) + "[]";
        }
        String full = type.packageName().isEmpty() ? type.displayName() : type.packageName() + "." + type.displayName();
        return full.replace('$', '.').replace("java.lang.", "");
    }

    private static String modifiers(int flags, int without) {
        String text = Modifier.toString(flags
                & ~without
                & (Modifier.classModifiers() | Modifier.methodModifiers() | Modifier.fieldModifiers())
                & ~Modifier.SYNCHRONIZED
                & ~Modifier.NATIVE);
        return text.isEmpty() ? "" : text + " ";
    }

    private static String head(ClassModel type) {
        int flags = flags(type);
        boolean isInterface = (flags & Modifier.INTERFACE) != 0;
        StringBuilder head = new StringBuilder(modifiers(
                        flags, Modifier.INTERFACE | Modifier.SYNCHRONIZED | (isInterface ? Modifier.ABSTRACT : 0)))
                .append(isInterface ? "interface " : "class ")
                .append(name(type.thisClass().asSymbol()));
        type.superclass()
                .map(each -> name(each.asSymbol()))
                .filter(each -> !each.equals("Object"))
                .ifPresent(each -> head.append(" extends ").append(each));
        if (!type.interfaces().isEmpty()) {
            head.append(type.interfaces().stream()
                    .map(each -> name(each.asSymbol()))
                    .collect(Collectors.joining(", ", isInterface ? " extends " : " implements ", "")));
        }
        return head.toString();
    }

    /**
     * A public or protected member.
     *
     * @param text the line of the listing
     * @param mentioned names of the types in the declaration, type arguments included, between other characters
     * @param marked whether the member itself has the marker
     */
    private record Member(String text, String mentioned, boolean marked) {}

    private static List<Member> members(ClassModel type) {
        List<Member> members = new ArrayList<>();
        type.fields().stream()
                .filter(field -> isVisible(field.flags().flagsMask()))
                .forEach(field -> members.add(new Member(
                        "    " + modifiers(field.flags().flagsMask(), 0) + name(field.fieldTypeSymbol()) + " "
                                + field.fieldName().stringValue(),
                        field.fieldType().stringValue() + signature(field),
                        hasMarker(field))));
        type.methods().stream()
                .filter(method -> isVisible(method.flags().flagsMask()))
                .filter(method -> !OF_OBJECT.contains(method.methodName().stringValue()))
                .forEach(method -> members.add(new Member(
                        text(method), method.methodType().stringValue() + signature(method), hasMarker(method))));
        members.sort(Comparator.comparing(Member::text));
        return members;
    }

    private static String text(MethodModel method) {
        MethodTypeDesc shape = method.methodTypeSymbol();
        String called = method.methodName().stringValue();
        return "    " + modifiers(method.flags().flagsMask(), Modifier.TRANSIENT | Modifier.VOLATILE)
                + (called.equals("<init>") ? "new" : name(shape.returnType()) + " " + called)
                + shape.parameterList().stream().map(PublicApiTest::name).collect(Collectors.joining(", ", "(", ")"));
    }

    private static String signature(AttributedElement member) {
        return member.findAttribute(Attributes.signature())
                .map(each -> each.signature().stringValue())
                .orElse("");
    }

    /** Whether the class file of a type or of a package has the marker, in a module of this project: tests have packages of the same names. */
    private boolean hasMarker(String file) throws IOException {
        Path name = Path.of(file + ".class");
        List<Path> found = Stream.concat(Stream.of(classes()), Modules.folders("target/classes").stream())
                .map(each -> each.resolve(name))
                .filter(Files::exists)
                .toList();
        assertThat(file.endsWith("package-info") || !found.isEmpty())
                .as("%s is built", file)
                .isTrue();
        for (Path each : found) {
            if (hasMarker(ClassFile.of().parse(each))) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasMarker(AttributedElement element) {
        return element.findAttribute(Attributes.runtimeInvisibleAnnotations()).stream()
                .flatMap(all -> all.annotations().stream())
                .anyMatch(each -> each.classSymbol().equals(MARKER));
    }

    /** Whether the type, a type around the type, or the package is marked. */
    private boolean isMarked(String binaryName) throws IOException {
        Boolean known = marked.get(binaryName);
        if (known == null) {
            int outer = binaryName.lastIndexOf('$');
            known = hasMarker(binaryName)
                    || (outer > 0
                            ? isMarked(binaryName.substring(0, outer))
                            : hasMarker(binaryName.substring(0, binaryName.lastIndexOf('/') + 1) + "package-info"));
            marked.put(binaryName, known);
        }
        return known;
    }

    /** Whether the member is marked, or mentions a marked type. */
    private boolean isMarked(Member member) throws IOException {
        if (member.marked()) {
            return true;
        }
        for (String name : OURS.matcher(member.mentioned())
                .results()
                .map(MatchResult::group)
                .toList()) {
            if (isMarked(name)) {
                return true;
            }
        }
        return false;
    }

    /** The lines about a type in a listing. All members of a marked type are in the second listing. */
    private List<String> describe(ClassModel type, boolean ofMarked) throws IOException {
        boolean isMarked = isMarked(type.thisClass().asInternalName());
        List<String> lines = new ArrayList<>();
        for (Member member : members(type)) {
            if ((isMarked || isMarked(member)) == ofMarked) {
                lines.add(member.text());
            }
        }
        if (isMarked == ofMarked) {
            return concat(head(type), lines);
        }
        return isMarked || lines.isEmpty()
                ? List.of()
                : concat("members of " + name(type.thisClass().asSymbol()), lines);
    }

    private static List<String> concat(String head, List<String> lines) {
        return Stream.concat(Stream.of(head), lines.stream()).toList();
    }

    private List<String> listing(boolean ofMarked) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String each : promised()) {
            List<String> types = new ArrayList<>();
            for (ClassModel type : types(each).toList()) {
                types.addAll(describe(type, ofMarked));
            }
            if (!types.isEmpty()) {
                lines.add("package " + each);
                lines.addAll(types);
            }
        }
        return lines;
    }

    @Test
    void theListingHasThePromisedTypes() throws IOException {
        compare(listing(false), "public-api.txt", "the promise to applications");
    }

    @Test
    void theListingHasTheMarkedTypes() throws IOException {
        compare(listing(true), "marked-api.txt", "the public parts marked @NotForApplications");
    }

    private void compare(List<String> now, String name, String what) throws IOException {
        Path file = folder().resolve("src/test/resources/api").resolve(name);
        if (Boolean.getBoolean("iree4j.api.write")) {
            Files.createDirectories(file.getParent());
            Files.write(file, now);
        }
        List<String> before = Files.readAllLines(file);
        List<String> gone = new ArrayList<>(before);
        gone.removeAll(now);
        List<String> come = new ArrayList<>(now);
        come.removeAll(before);
        assertThat(now)
                .as(
                        "%s: gone %s, new %s; where intended, run this test with -Diree4j.api.write=true and explain in the commit",
                        what, gone, come)
                .isEqualTo(before);
    }

    @Test
    void noPromisedTypeNeedsAMarkedType() throws IOException {
        Set<String> promised = promised();
        Set<String> missing = new TreeSet<>();
        for (String line :
                Stream.concat(listing(false).stream(), listing(true).stream()).toList()) {
            for (String word : line.split("[ (),\\[\\]]+")) {
                int type = word.startsWith("io.github.iree4j.") ? firstType(word) : -1;
                if (type > 0 && !promised.contains(word.substring(0, type)) && isOurs(word.substring(0, type))) {
                    missing.add(word);
                }
            }
        }
        assertThat(missing).as("listed types in packages not exported to all").isEmpty();
    }

    /** Whether the package belongs to this module. */
    private boolean isOurs(String packageName) {
        String[] classes =
                classes().resolve(packageName.replace('.', '/')).toFile().list((_, name) -> name.endsWith(".class"));
        return classes != null && classes.length > 0;
    }

    /** Where the package ends: before the first name with a capital letter at the front. */
    private static int firstType(String name) {
        for (int at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
            if (Character.isUpperCase(name.charAt(at + 1))) {
                return at;
            }
        }
        return -1;
    }
}
