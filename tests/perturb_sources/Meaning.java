// Says what Java sources mean, for check.py: reads "LANGUAGE SIZE\n" and the text, answers with a line: "ok" and a
// hash of javac's syntax tree without places and comments, or "error" and why there is none.
import com.sun.source.tree.*;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import javax.tools.*;

public class Meaning {
  static class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///Source.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  static class Printer extends TreeScanner<Void, Void> {
    final StringBuilder out = new StringBuilder();

    @Override
    public Void scan(Tree tree, Void unused) {
      if (tree == null) {
        out.append("()");
        return null;
      }
      out.append('(').append(tree.getKind()).append(' ').append(own(tree));
      super.scan(tree, unused);
      out.append(')');
      return null;
    }

    private static String own(Tree tree) {
      if (tree instanceof IdentifierTree t) return t.getName().toString();
      if (tree instanceof LiteralTree t) return tree.getKind() + ":" + t.getValue();
      if (tree instanceof MemberSelectTree t) return t.getIdentifier().toString();
      if (tree instanceof VariableTree t) return t.getName().toString();
      if (tree instanceof MethodTree t) return t.getName().toString();
      if (tree instanceof ClassTree t) return t.getSimpleName().toString();
      if (tree instanceof PrimitiveTypeTree t) return t.getPrimitiveTypeKind().toString();
      if (tree instanceof ModifiersTree t) return t.getFlags().toString();
      if (tree instanceof LabeledStatementTree t) return t.getLabel().toString();
      if (tree instanceof BreakTree t) return String.valueOf(t.getLabel());
      if (tree instanceof ContinueTree t) return String.valueOf(t.getLabel());
      if (tree instanceof MemberReferenceTree t) return t.getName() + ":" + t.getMode();
      if (tree instanceof ImportTree t) return String.valueOf(t.isStatic());
      if (tree instanceof TypeParameterTree t) return t.getName().toString();
      return "";
    }
  }

  static String answer(JavaCompiler compiler, String text) throws Exception {
    var problems = new DiagnosticCollector<JavaFileObject>();
    var task = (JavacTask) compiler.getTask(null, null, problems, List.of("-proc:none"), null, List.of(new Source(text)));
    var printer = new Printer();
    for (var unit : task.parse()) printer.scan(unit, null);
    for (var problem : problems.getDiagnostics()) {
      if (problem.getKind() == Diagnostic.Kind.ERROR) {
        return "error " + problem.getMessage(null).replaceAll("\\s+", " ");
      }
    }
    var digest = MessageDigest.getInstance("SHA-256").digest(printer.out.toString().getBytes(StandardCharsets.UTF_8));
    return "ok " + HexFormat.of().formatHex(digest);
  }

  static String readLine(BufferedInputStream in) throws IOException {
    var line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) return null;
      line.append((char) c);
    }
    return line.toString();
  }

  public static void main(String[] arguments) throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var in = new BufferedInputStream(System.in);
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String head = readLine(in); head != null; head = readLine(in)) {
      var bytes = in.readNBytes(Integer.parseInt(head.split(" ")[1]));
      out.println(answer(compiler, new String(bytes, StandardCharsets.UTF_8)));
    }
  }
}
