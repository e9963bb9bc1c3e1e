//! Conditions of causes: CEL expressions over questions to the fact base.
//!
//! A call such as `share('zio_*')` is taken out of the expression when it is compiled and becomes a
//! [`Query`]; what is left is compared by CEL. A question without an answer makes the condition
//! unknown, unless the rest decides it (`unknown || true` is true). A canonical fact (`fact('arc.size')`) stands for
//! its sources, of which the first that is known answers.

use crate::canon::Canon;
use crate::facts::{Query, Reading, ResultKind, Value};
use cel::common::ast::{Expr, IdedExpr, LiteralValue};
use cel::common::types::{CelBool, CelDouble, CelString};
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use cel::parser::{Parser, PrattParser};
use cel::{Context, Env, Value as CelValue};
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock};

/// The operators of CEL; shared, as setting them up costs more than a hundred evaluations.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Index into a [`QueryBank`].
pub type QueryId = usize;

/// Every distinct question of all causes.
#[derive(Clone, Debug, Default)]
pub struct QueryBank {
    queries: Vec<Query>,
    /// By function and arguments: most are asked more than once.
    ids: FxHashMap<String, QueryId>,
    facts: FxHashMap<String, CompiledFact>,
}

/// A canonical fact, which every condition that asks for it shares.
#[derive(Clone, Debug)]
struct CompiledFact {
    sources: Arc<[IdedExpr]>,
    queries: Vec<QueryId>,
}

impl QueryBank {
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    pub fn get(&self, id: QueryId) -> Option<&Query> {
        self.queries.get(id)
    }

    fn id(&mut self, function: &str, arguments: Vec<String>) -> Result<QueryId, String> {
        let call = format!("{function}({})", arguments.join("\0"));
        if let Some(id) = self.ids.get(&call) {
            return Ok(*id);
        }
        self.queries.push(Query::new(function, arguments)?);
        let id = self.queries.len() - 1;
        self.ids.insert(call, id);
        Ok(id)
    }
}

/// What a condition came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    Yes,
    No,
    Unknown,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Condition {
    pub text: String,
    /// Its questions, in the order of the text.
    pub queries: Vec<QueryId>,
    expression: IdedExpr,
    /// Sources of the facts that it asks for.
    facts: Facts,
}

/// Facts by index, each with its sources in order.
type Facts = Vec<(String, Arc<[IdedExpr]>)>;

impl Condition {
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn compile(text: &str, bank: &mut QueryBank) -> Result<Condition, String> {
        let mut expression = parse(text)?;
        let mut taken = Taken { bank, queries: Vec::new(), facts: Vec::new(), of_fact: false };
        taken.take(&mut expression)?;
        let Taken { queries, facts, .. } = taken;
        Ok(Condition { text: text.to_owned(), queries, expression, facts })
    }

    /// Evaluates with the answers of a fact base.
    pub fn truth(&self, answers: &dyn Answers) -> Truth {
        match self.value(answers) {
            Some(CelValue::Bool(true)) => Truth::Yes,
            Some(CelValue::Bool(false)) => Truth::No,
            _ => Truth::Unknown,
        }
    }

    /// The figure of an expression of numbers; `None` where an answer is missing.
    pub fn number(&self, answers: &dyn Answers) -> Option<f64> {
        match self.value(answers)? {
            CelValue::Float(n) => Some(n),
            CelValue::Int(n) => Some(n as f64),
            CelValue::UInt(n) => Some(n as f64),
            _ => None,
        }
    }

    fn value(&self, answers: &dyn Answers) -> Option<CelValue> {
        self.resolver(answers).value(&self.expression)
    }

    fn resolver<'a>(&'a self, answers: &'a dyn Answers) -> Resolver<'a> {
        Resolver { answers, facts: &self.facts }
    }

    /// The questions that make it true, in the order of the text: of alternatives only those that hold, of
    /// sources of a fact the one that answers.
    pub fn reasons(&self, answers: &dyn Answers) -> Vec<QueryId> {
        let mut reasons = Vec::new();
        self.resolver(answers).collect_reasons(&self.expression, &mut reasons);
        reasons
    }

    /// The first question that lacks an answer; of a fact that no source knows, the first of its first source.
    pub fn unanswered(&self, answers: &dyn Answers) -> Option<QueryId> {
        self.resolver(answers).unanswered(&self.expression)
    }

    /// Whether it holds when these questions of truth alone have an answer, which is yes.
    pub fn rests_on(&self, bank: &QueryBank, of: fn(&Query) -> bool) -> bool {
        self.truth(&OnlyYes { bank, of }) == Truth::Yes
    }

    /// Whether the expression is one of truth, given answers of the declared types.
    pub fn is_well_typed(&self, bank: &QueryBank) -> bool {
        let sample = |number: f64| SampleAnswers { bank, number };
        // One of the two may be decided early on the left side of || or &&; both never are.
        [0.0, 1.0].iter().all(|n| matches!(self.value(&sample(*n)), Some(CelValue::Bool(_))))
    }
}

/// `cel` has two parsers of one grammar: the second takes a tenth of the time, and all conditions
/// are parsed at every start; the first says better what is wrong.
fn parse(text: &str) -> Result<IdedExpr, String> {
    PrattParser::default().parse(text).or_else(|_| Parser::default().parse(text)).map_err(|e| {
        let first = e.errors.first();
        first.map_or_else(|| e.to_string(), |e| format!("column {}: {}", e.pos.1, e.msg))
    })
}

/// Where a condition's questions get their answers.
pub trait Answers: Sync {
    fn answer(&self, id: QueryId) -> Option<Reading>;
}

/// Yes to some questions, no answer to the others.
struct OnlyYes<'a> {
    bank: &'a QueryBank,
    of: fn(&Query) -> bool,
}

impl Answers for OnlyYes<'_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        let query = self.bank.get(id).filter(|query| (self.of)(query))?;
        Some(Reading::new(Value::Truth(true), crate::facts::Quality::Counted, query.text()))
    }
}

struct SampleAnswers<'a> {
    bank: &'a QueryBank,
    number: f64,
}

impl Answers for SampleAnswers<'_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        let value = match self.bank.get(id)?.signature().result {
            ResultKind::Share | ResultKind::Number | ResultKind::Any => Value::Number(self.number),
            ResultKind::Truth => Value::Truth(self.number > 0.0),
            ResultKind::Text => Value::Text(String::new()),
        };
        Some(Reading::new(value, crate::facts::Quality::Counted, ""))
    }
}

/// Answers, and the sources of facts, by the names that they have in an expression.
struct Resolver<'a> {
    answers: &'a dyn Answers,
    facts: &'a Facts,
}

/// What a name in a compiled expression stands for.
enum Named<'a> {
    Query(QueryId),
    /// Its sources.
    Fact(&'a [IdedExpr]),
}

impl<'a> Resolver<'a> {
    fn named(&self, name: &str) -> Option<Named<'a>> {
        if let Some(id) = name.strip_prefix('q') {
            return id.parse().ok().map(Named::Query);
        }
        let (_, sources) = self.facts.get(name.strip_prefix('f')?.parse::<usize>().ok()?)?;
        Some(Named::Fact(sources))
    }

    fn value(&self, expression: &IdedExpr) -> Option<CelValue> {
        let mut context = Context::with_env(LANGUAGE.clone());
        context.set_variable_resolver(self);
        CelValue::resolve(expression, &context).ok()
    }

    /// The first source that is known, with its value.
    fn known(&self, sources: &'a [IdedExpr]) -> Option<(&'a IdedExpr, CelValue)> {
        sources.iter().find_map(|source| Some((source, self.value(source)?)))
    }

    fn collect_reasons(&self, node: &IdedExpr, reasons: &mut Vec<QueryId>) {
        match &node.expr {
            Expr::Call(call) => {
                let alternatives = call.func_name == "_||_";
                for part in call.target.iter().map(|target| &**target).chain(&call.args) {
                    if !alternatives || matches!(self.value(part), Some(CelValue::Bool(true))) {
                        self.collect_reasons(part, reasons);
                    }
                }
            }
            Expr::List(list) => list.elements.iter().for_each(|e| self.collect_reasons(e, reasons)),
            Expr::Ident(name) => match self.named(name) {
                Some(Named::Query(id)) if !reasons.contains(&id) => reasons.push(id),
                Some(Named::Fact(sources)) => {
                    self.known(sources)
                        .into_iter()
                        .for_each(|(source, _)| self.collect_reasons(source, reasons));
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn unanswered(&self, node: &IdedExpr) -> Option<QueryId> {
        match &node.expr {
            Expr::Call(call) => call
                .target
                .iter()
                .map(|target| &**target)
                .chain(&call.args)
                .find_map(|part| self.unanswered(part)),
            Expr::List(list) => list.elements.iter().find_map(|e| self.unanswered(e)),
            Expr::Ident(name) => match self.named(name)? {
                Named::Query(id) => self.answers.answer(id).is_none().then_some(id),
                Named::Fact(sources) if self.known(sources).is_some() => None,
                Named::Fact(sources) => self.unanswered(sources.first()?),
            },
            _ => None,
        }
    }
}

impl VariableResolver for Resolver<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let id = match self.named(name)? {
            Named::Query(id) => id,
            Named::Fact(sources) => {
                return Some(match self.known(sources)?.1 {
                    CelValue::Float(n) => CowVal::owned(CelDouble::from(n)),
                    CelValue::Bool(b) => CowVal::owned(CelBool::from(b)),
                    CelValue::String(s) => CowVal::owned(CelString::from(s.to_string())),
                    _ => return None,
                });
            }
        };
        Some(match self.answers.answer(id)?.value {
            Value::Number(n) => CowVal::owned(CelDouble::from(n)),
            Value::Truth(b) => CowVal::owned(CelBool::from(b)),
            Value::Text(s) => CowVal::owned(CelString::from(s)),
        })
    }
}

/// What was taken out of an expression while it is compiled.
struct Taken<'b> {
    bank: &'b mut QueryBank,
    queries: Vec<QueryId>,
    facts: Facts,
    /// A source of a fact is compiled.
    of_fact: bool,
}

impl Taken<'_> {
    /// Replaces calls by variables, and whole numbers by doubles, as every answer is one.
    fn take(&mut self, node: &mut IdedExpr) -> Result<(), String> {
        match &mut node.expr {
            Expr::Literal(literal) => {
                if let LiteralValue::Int(int) = literal {
                    *literal = LiteralValue::Double(CelDouble::from(*int.inner() as f64));
                }
                Ok(())
            }
            Expr::List(list) => list.elements.iter_mut().try_for_each(|e| self.take(e)),
            Expr::Call(call) if is_operator(&call.func_name) => {
                call.target.iter_mut().try_for_each(|t| self.take(t))?;
                call.args.iter_mut().try_for_each(|a| self.take(a))
            }
            Expr::Call(call) => {
                if call.target.is_some() {
                    return Err(format!("`.{}(…)` is not part of the condition language", call.func_name));
                }
                let arguments =
                    call.args.iter().map(literal_text).collect::<Result<Vec<String>, String>>()?;
                let name = match (call.func_name.as_str(), arguments.as_slice()) {
                    ("fact", [pointer]) if pointer.starts_with('/') && !self.of_fact => {
                        return Err(format!(
                            "`{pointer}` is for sources in knowledge/facts.toml: give the fact a name there, and \
                             ask for that"
                        ));
                    }
                    ("fact", [name]) if !name.starts_with('/') => self.fact(name)?,
                    _ => self.query(&call.func_name, arguments)?,
                };
                node.expr = Expr::Ident(name);
                Ok(())
            }
            Expr::Ident(name) => Err(format!("`{name}` is no value; text is written in quotes")),
            _ => Err("only comparisons, &&, ||, !, ?: and arithmetic over questions are allowed".to_owned()),
        }
    }

    fn query(&mut self, function: &str, arguments: Vec<String>) -> Result<String, String> {
        let arguments =
            arguments.iter().map(|text| Canon::embedded().expanded(text)).collect::<Result<_, _>>()?;
        let id = self.bank.id(function, arguments)?;
        self.asks(id);
        Ok(format!("q{id}"))
    }

    fn asks(&mut self, id: QueryId) {
        if !self.queries.contains(&id) {
            self.queries.push(id);
        }
    }

    fn fact(&mut self, name: &str) -> Result<String, String> {
        if self.of_fact {
            return Err(format!("`{name}` cannot be a source of a fact: it is one"));
        }
        if let Some(at) = self.facts.iter().position(|(known, _)| known == name) {
            return Ok(format!("f{at}"));
        }
        let CompiledFact { sources, queries } = match self.bank.facts.get(name) {
            Some(compiled) => compiled.clone(),
            None => {
                let compiled = compile_fact(name, self.bank)?;
                self.bank.facts.insert(name.to_owned(), compiled.clone());
                compiled
            }
        };
        queries.into_iter().for_each(|id| self.asks(id));
        self.facts.push((name.to_owned(), sources));
        Ok(format!("f{}", self.facts.len() - 1))
    }
}

fn compile_fact(name: &str, bank: &mut QueryBank) -> Result<CompiledFact, String> {
    let Some(fact) = Canon::embedded().get(name) else {
        return Err(format!("no fact is called `{name}`: knowledge/facts.toml has their names"));
    };
    let mut taken = Taken { bank, queries: Vec::new(), facts: Vec::new(), of_fact: true };
    let mut source = |text: &String| {
        let mut source = parse(text)?;
        taken.take(&mut source)?;
        Ok(source)
    };
    let sources: Result<_, String> = fact.sources.iter().map(&mut source).collect();
    Ok(CompiledFact { sources: sources.map_err(|e| format!("{name}: {e}"))?, queries: taken.queries })
}

/// A question that a text compares with a plain number.
pub struct Comparison {
    pub function: String,
    /// Its first argument.
    pub argument: String,
    pub figure: f64,
}

/// What a text compares with plain numbers; nothing of a broken text.
pub fn comparisons(text: &str) -> Vec<Comparison> {
    let mut found = Vec::new();
    if let Ok(expression) = parse(text) {
        collect_comparisons(&expression, &mut found);
    }
    found
}

fn collect_comparisons(node: &IdedExpr, found: &mut Vec<Comparison>) {
    let Expr::Call(call) = &node.expr else { return };
    call.args.iter().for_each(|a| collect_comparisons(a, found));
    if !matches!(call.func_name.as_str(), "_>_" | "_>=_" | "_<_" | "_<=_") {
        return;
    }
    for (question, figure) in [(0, 1), (1, 0)] {
        let (Some(question), Some(figure)) = (call.args.get(question), call.args.get(figure)) else { return };
        let number = match &figure.expr {
            Expr::Literal(LiteralValue::Int(n)) => *n.inner() as f64,
            Expr::Literal(LiteralValue::Double(n)) => *n.inner(),
            _ => continue,
        };
        if let Expr::Call(question) = &question.expr {
            let argument = question.args.first().and_then(|a| literal_text(a).ok()).unwrap_or_default();
            found.push(Comparison { function: question.func_name.clone(), argument, figure: number });
        }
    }
}

/// CEL names its operators with signs and underscores: `_>_`, `!_`, `@in`.
fn is_operator(name: &str) -> bool {
    name.starts_with(['_', '!', '-', '@'])
}

fn literal_text(argument: &IdedExpr) -> Result<String, String> {
    match &argument.expr {
        Expr::Literal(LiteralValue::String(text)) => Ok(text.inner().to_string()),
        _ => Err("arguments are texts in quotes".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Quality;

    struct Fixed(Vec<Option<Value>>);

    impl Answers for Fixed {
        fn answer(&self, id: QueryId) -> Option<Reading> {
            let value = self.0.get(id)?.clone()?;
            Some(Reading::new(value, Quality::Counted, ""))
        }
    }

    fn truth(text: &str, answers: &[Option<f64>]) -> Truth {
        let mut bank = QueryBank::default();
        let condition = Condition::compile(text, &mut bank).unwrap();
        condition.truth(&Fixed(answers.iter().map(|a| a.map(Value::Number)).collect()))
    }

    #[test]
    fn what_is_unknown_stays_unknown_unless_the_rest_decides() {
        let (yes, no, unknown) = (Truth::Yes, Truth::No, Truth::Unknown);
        for (text, answers, expected) in [
            ("share('a') > 0.5", vec![Some(0.6)], yes),
            ("share('a') > 0.5", vec![None], unknown),
            ("share('a') > 1 || share('b') > 0", vec![None, Some(1.0)], yes),
            ("share('b') > 0 || share('a') > 1", vec![Some(1.0), None], yes),
            ("share('a') > 1 || share('b') > 0", vec![None, Some(0.0)], unknown),
            ("share('a') > 1 && share('b') > 0", vec![None, Some(0.0)], no),
            ("!(share('a') > 1)", vec![None], unknown),
            ("rate('s','a') / rate('s','b') >= 2", vec![Some(4.0), Some(2.0)], yes),
            ("rate('s','a') > rate('s','b') * 2 - 1", vec![Some(4.0), Some(2.0)], yes),
            ("share('a') > -1 ? true : false", vec![Some(0.0)], yes),
        ] {
            assert_eq!(truth(text, &answers), expected, "{text} {answers:?}");
        }
    }

    #[test]
    fn of_alternatives_those_that_hold_are_the_reasons() {
        let mut bank = QueryBank::default();
        let text =
            "share('a') > 0.5 && (share('b') > 0.5 || share('c') > 0.5 || share('d') > 0.5 && seen('e'))";
        let condition = Condition::compile(text, &mut bank).unwrap();
        let reasons = |answers: [Option<f64>; 5]| {
            let mut answers: Vec<_> = answers.iter().map(|a| a.map(Value::Number)).collect();
            answers[4] = answers[4].take().map(|_| Value::Truth(true));
            condition.reasons(&Fixed(answers))
        };
        assert_eq!(reasons([Some(0.9), Some(0.1), Some(0.8), None, None]), [0, 2]);
        assert_eq!(reasons([Some(0.9), Some(0.6), Some(0.8), Some(0.7), Some(1.0)]), [0, 1, 2, 3, 4]);
        assert_eq!(reasons([Some(0.9), None, None, Some(0.7), Some(1.0)]), [0, 3, 4]);
    }

    #[test]
    fn of_the_sources_of_a_fact_the_first_that_is_known_answers() {
        let mut bank = QueryBank::default();
        let condition = Condition::compile("fact('arc.c') > 100 && share('a') > 0.5", &mut bank).unwrap();
        let text = |id: usize| bank.get(id).unwrap().text();
        assert_eq!([text(0), text(1)], ["kstat('arcstats', 'c')", "kstat('arcstats', 'c_mb')"]);
        let given = |answers: [Option<f64>; 3]| {
            let answers = Fixed(answers.iter().map(|a| a.map(Value::Number)).collect());
            (condition.truth(&answers), condition.reasons(&answers), condition.unanswered(&answers))
        };
        assert_eq!(given([Some(101.0), None, Some(0.9)]), (Truth::Yes, vec![0, 2], None));
        // The second is in MiB, and speaks only where the first does not.
        assert_eq!(given([None, Some(1.0), Some(0.9)]), (Truth::Yes, vec![1, 2], None));
        assert_eq!(given([Some(5.0), Some(1.0), Some(0.9)]).0, Truth::No);
        assert_eq!(given([None, None, Some(0.9)]), (Truth::Unknown, vec![2], Some(0)));
        assert_eq!(given([None, Some(1.0), None]), (Truth::Unknown, vec![1, 2], Some(2)));
        for (text, told) in [
            ("fact('arc.colour') > 1", "no fact is called `arc.colour`"),
            ("fact('/host/cpus') > 1", "give the fact a name there"),
            ("seen('@nothing')", "no group of names is called `@nothing`"),
        ] {
            let error = Condition::compile(text, &mut bank).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    /// Kleene's tables: unknown stays unknown exactly where another value could change the result.
    #[test]
    fn every_combination_of_three_truths_is_right() {
        let values = [Some(1.0), Some(0.0), None];
        let all = |a: Option<f64>, f: &dyn Fn(bool) -> Truth| {
            let results = a.map_or(vec![true, false], |a| vec![a > 0.0]).into_iter().map(f);
            results.reduce(|x, y| if x == y { x } else { Truth::Unknown }).unwrap()
        };
        let truth_of = |b: bool| if b { Truth::Yes } else { Truth::No };
        for a in values {
            for b in values {
                for c in values {
                    type Rule = fn(bool, bool, bool) -> bool;
                    let rules: [(&str, Rule); 4] = [
                        ("share('a') > 0 || share('b') > 0 || share('c') > 0", |a, b, c| a || b || c),
                        ("share('a') > 0 && share('b') > 0 && share('c') > 0", |a, b, c| a && b && c),
                        ("(share('a') > 0 || share('b') > 0) && share('c') > 0", |a, b, c| (a || b) && c),
                        ("share('a') > 0 && share('b') > 0 || !(share('c') > 0)", |a, b, c| a && b || !c),
                    ];
                    for (text, rule) in rules {
                        let expected = all(a, &|a| all(b, &|b| all(c, &|c| truth_of(rule(a, b, c)))));
                        assert_eq!(truth(text, &[a, b, c]), expected, "{text} {a:?} {b:?} {c:?}");
                    }
                }
            }
        }
    }

    /// Both parsers, ids of nodes aside: those are counted differently and mean nothing here.
    #[test]
    fn the_fast_parser_reads_every_condition_as_the_other() {
        fn shape(node: &IdedExpr) -> String {
            match &node.expr {
                Expr::Call(call) => {
                    let args: Vec<String> =
                        call.target.iter().map(|t| &**t).chain(&call.args).map(shape).collect();
                    format!("{}({})", call.func_name, args.join(" "))
                }
                Expr::List(list) => format!("{:?}", list.elements.iter().map(shape).collect::<Vec<_>>()),
                other => format!("{other:?}"),
            }
        }
        let knowledge = crate::Knowledge::embedded();
        let signs = knowledge.causes.iter().flat_map(|c| c.signs.iter().chain(&c.against)).map(|s| &s.when);
        let alike =
            knowledge.causes.iter().flat_map(|c| &c.look_alikes).filter_map(|l| l.ruled_out_when.as_ref());
        let texts: Vec<&str> = signs.chain(alike).map(|c| c.text.as_str()).collect();
        assert!(texts.len() > 100);
        for text in texts {
            let (fast, other) = (PrattParser::default().parse(text), Parser::default().parse(text));
            assert_eq!(shape(&fast.unwrap()), shape(&other.unwrap()), "{text}");
        }
    }

    #[test]
    fn comparisons_with_numbers_are_found() {
        let found = comparisons("share('a') > 5 && (0.1 < rate('s', 'n') || !(busy() >= 2))");
        let found: Vec<_> = found.iter().map(|c| (&*c.function, &*c.argument, c.figure)).collect();
        assert_eq!(found, [("share", "a", 5.0), ("rate", "s", 0.1), ("busy", "", 2.0)]);
        assert!(comparisons("share('a'").is_empty());
    }

    #[test]
    fn mistakes_are_found_when_compiling() {
        for (text, says) in [
            ("shares('a') > 1", "no function is called `shares`"),
            ("share('a', 'b') > 1", "takes 1 arguments, not 2"),
            ("share(a) > 1", "texts in quotes"),
            ("foo > 1", "`foo` is no value"),
            ("share('a' > 1", "column 14"),
            ("zfs('0.8') && true", "not a version requirement"),
            ("share('') > 1", "empty argument"),
            ("['a'].exists(x, x == 'a')", "only comparisons"),
        ] {
            let error = Condition::compile(text, &mut QueryBank::default()).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn types_are_checked_without_evidence() {
        let mut bank = QueryBank::default();
        for (text, good) in [
            ("share('a') > 0.1 && seen('b')", true),
            ("chosen('icp_aes_impl') == 'generic'", true),
            ("chosen('icp_aes_impl') in ['generic', 'x86_64']", true),
            ("share('a')", false),
            ("seen('a') > 1", false),
            ("seen('a') && chosen('b')", false),
        ] {
            let condition = Condition::compile(text, &mut bank).unwrap();
            assert_eq!(condition.is_well_typed(&bank), good, "{text}");
        }
    }

    #[test]
    fn equal_questions_are_asked_once() {
        let mut bank = QueryBank::default();
        let a = Condition::compile("share('a') > 0.1 && share('a') < 0.5", &mut bank).unwrap();
        let b = Condition::compile("share('a') > 0.3", &mut bank).unwrap();
        assert_eq!((bank.len(), a.queries.len(), a.queries == b.queries), (1, 1, true));
    }
}
